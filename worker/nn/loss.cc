#include "worker/nn/loss.h"

#include <algorithm>
#include <cmath>

namespace rowan {

float Sigmoid(float logit) {
  const double e = std::exp(-std::abs(static_cast<double>(logit)));
  return static_cast<float>((logit < 0 ? e : 1.0) / (1.0 + e));
}

double SigmoidCrossEntropy(const float* logits, const float* labels, const float* weights, int64_t n, float* dlogits,
                           float* probabilities) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double z = logits[i];
    const double y = labels[i];
    const double weight = weights == nullptr ? 1.0 : weights[i];
    const double e = std::exp(-std::abs(z));
    const double small = e / (1.0 + e);  // sigmoid(-|z|): exact where 1 - sigmoid(|z|) would cancel.
    sum += weight * (std::max(z, 0.0) - z * y + std::log1p(e));
    if (dlogits != nullptr) dlogits[i] = static_cast<float>(weight * (z < 0 ? small - y : (1.0 - y) - small));
    if (probabilities != nullptr) probabilities[i] = static_cast<float>(z < 0 ? small : 1.0 / (1.0 + e));
  }
  return sum;
}

}  // namespace rowan
