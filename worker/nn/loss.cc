#include "worker/nn/loss.h"

#include <algorithm>
#include <cmath>

#include "common/portable_math.h"

namespace rowan {
namespace {

// e^-|z|, in (0, 1]; 0 where it is below any sum that it enters; NaN for NaN.
double ExpOfMinusMagnitude(double z) {
  if (std::abs(z) <= 700) return PortableExp(-std::abs(z));
  return z == z ? 0 : z;
}

}  // namespace

float Sigmoid(float logit) {
  const double e = ExpOfMinusMagnitude(logit);
  return static_cast<float>((logit < 0 ? e : 1.0) / (1.0 + e));
}

double SigmoidCrossEntropy(const float* logits, const float* labels, const float* weights, int64_t n, float* dlogits,
                           float* probabilities) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double z = logits[i];
    const double y = labels[i];
    const double weight = weights == nullptr ? 1.0 : weights[i];
    const double e = ExpOfMinusMagnitude(z);
    const double small = e / (1.0 + e);  // sigmoid(-|z|): exact where 1 - sigmoid(|z|) would cancel.
    sum += weight * (std::max(z, 0.0) - z * y + PortableLog1p(e));
    if (dlogits != nullptr) dlogits[i] = static_cast<float>(weight * (z < 0 ? small - y : (1.0 - y) - small));
    if (probabilities != nullptr) probabilities[i] = static_cast<float>(z < 0 ? small : 1.0 / (1.0 + e));
  }
  return sum;
}

}  // namespace rowan
