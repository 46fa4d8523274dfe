#include "worker/nn/progressive_auc.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>

namespace rowan {
namespace {

constexpr float kLimit = 16;

}  // namespace

void ProgressiveAuc::Add(absl::Span<const float> logits, absl::Span<const float> labels) {
  CHECK_EQ(logits.size(), labels.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i])) continue;
    const float position = (std::clamp(logits[i], -kLimit, kLimit) + kLimit) * (kBuckets / (2 * kLimit));
    const int64_t bucket = std::min(static_cast<int64_t>(position), kBuckets - 1);
    ++counts_[2 * bucket + (labels[i] > 0.5f ? 1 : 0)];
  }
}

void ProgressiveAuc::Merge(const ProgressiveAuc& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

void ProgressiveAuc::Reset() { std::fill(counts_.begin(), counts_.end(), 0); }

absl::optional<double> ProgressiveAuc::Value() const {
  double negatives = 0;
  double positives = 0;
  double won = 0;
  for (int64_t b = 0; b < kBuckets; ++b) {
    const double negative = static_cast<double>(counts_[2 * b]);
    const double positive = static_cast<double>(counts_[2 * b + 1]);
    won += positive * (negatives + negative / 2);
    negatives += negative;
    positives += positive;
  }
  if (negatives == 0 || positives == 0) return absl::nullopt;
  return won / (positives * negatives);
}

}  // namespace rowan
