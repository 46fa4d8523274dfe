// Sigmoid cross-entropy of logits: log(1 + e^z) - y z, in the form that neither overflows nor cancels.
//
// Computed in double by common/portable_math.h: the same bits on every machine. Thread-safe.
#ifndef ROWAN_WORKER_NN_LOSS_H_
#define ROWAN_WORKER_NN_LOSS_H_

#include <cstdint>

namespace rowan {

// 1 / (1 + e^-z), rounded to float last; NaN for NaN.
float Sigmoid(float logit);

// Returns the weighted loss *sum* (nats) of `n` samples, added in sample order. Finite logits give finite results,
// however large; a logit that is not finite gives a sum that is not finite. n == 0 gives 0.
double SigmoidCrossEntropy(const float* logits,   // (n)
                           const float* labels,   // (n), in [0, 1]
                           const float* weights,  // (n), at least 0; null: all 1
                           int64_t n,
                           float* dlogits,         // (n), d sum / d logit = weight * (sigmoid(z) - y); null: not wanted
                           float* probabilities);  // (n), sigmoid(z); null: not wanted

}  // namespace rowan

#endif  // ROWAN_WORKER_NN_LOSS_H_
