#include "worker/nn/metrics.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/portable_math.h"

namespace rowan {
namespace {

// Unsigned integers in the order of the floats; -0 and 0 are one value.
uint32_t Ordered(float score) {
  const float value = score + 0.0f;  // -0 + 0 is 0.
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

double LogOrNan(double p) { return std::isnan(p) ? p : PortableLog(p); }

}  // namespace

absl::optional<double> Auc(absl::Span<const float> scores, absl::Span<const float> labels) {
  CHECK_EQ(scores.size(), labels.size());
  std::vector<uint64_t> sorted(scores.size());  // Score above, 1 for a positive in the lowest bit.
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) return absl::nullopt;
    sorted[i] = uint64_t{Ordered(scores[i])} << 1 | uint64_t{labels[i] > 0.5f};
  }
  std::sort(sorted.begin(), sorted.end());
  uint64_t positives = 0;
  uint64_t negatives = 0;
  uint64_t half_wins = 0;  // Twice the pairs won.
  for (size_t i = 0; i < sorted.size();) {
    uint64_t tied[2] = {0, 0};
    const uint64_t score = sorted[i] >> 1;
    for (; i < sorted.size() && sorted[i] >> 1 == score; ++i) ++tied[sorted[i] & 1];
    half_wins += tied[1] * (2 * negatives + tied[0]);
    negatives += tied[0];
    positives += tied[1];
  }
  if (positives == 0 || negatives == 0) return absl::nullopt;
  return static_cast<double>(half_wins) / 2 / (static_cast<double>(positives) * static_cast<double>(negatives));
}

absl::optional<double> LogLoss(absl::Span<const float> probabilities, absl::Span<const float> labels) {
  CHECK_EQ(probabilities.size(), labels.size());
  if (labels.empty()) return absl::nullopt;
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    // In this order of arguments a NaN passes through.
    const double p = std::min(std::max<double>(probabilities[i], kLogLossClamp), 1.0 - kLogLossClamp);
    sum -= labels[i] > 0.5f ? LogOrNan(p) : PortableLog1p(-p);
  }
  return sum / static_cast<double>(labels.size());
}

absl::optional<double> Calibration(absl::Span<const float> probabilities, absl::Span<const float> labels) {
  CHECK_EQ(probabilities.size(), labels.size());
  double predicted = 0;
  double seen = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    predicted += probabilities[i];
    seen += labels[i] > 0.5f ? 1 : 0;
  }
  if (seen == 0) return absl::nullopt;
  return predicted / seen;
}

}  // namespace rowan
