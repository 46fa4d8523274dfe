// The inner loops of SliceOptimizer, compiled for every instruction set and chosen once. Formulas: optimizer.h.
#ifndef ROWAN_SERVER_TABLE_OPTIMIZER_KERNELS_H_
#define ROWAN_SERVER_TABLE_OPTIMIZER_KERNELS_H_

#include <cstdint>

#include "proto/table.pb.h"

namespace rowan {

// Powers of a beta with whole exponents in [0, 2^32), by table: libm's pow has other last bits on other processors.
class BetaPower {
 public:
  explicit BetaPower(double beta);

  // beta^t, t in [0, 2^32).
  double operator()(int64_t t) const {
    double power = powers_[0][t & 15];
    for (int digit = 1; (t >>= 4) != 0; ++digit) power *= powers_[digit][t & 15];
    return power;
  }

 private:
  double powers_[8][16];  // [k][d]: beta^(d 16^k)
};

struct BetaPowers {
  BetaPower beta1;
  BetaPower beta2;
};

// The constants of one optimizer, as the kernels want them. Those of other kinds are unused.
struct OptimizerRates {
  float learning_rate = 0;
  float epsilon = 0;
  float beta1 = 0, beta2 = 0;
  float one_minus_beta1 = 0, one_minus_beta2 = 0;
  float l1 = 0, l2 = 0, beta = 0;
  float inverse_learning_rate = 0;
  const BetaPowers* beta_powers = nullptr;
};

// SliceOptimizer::Update for a slice of `width` floats.
using OptimizerKernel = void (*)(const OptimizerRates& rates, const float* gradient, int64_t update_count,
                                 int64_t width, float* values, float* state);

// The kernel of a known kind for the best instruction set of this processor.
OptimizerKernel FindOptimizerKernel(proto::Optimizer::Kind kind);

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_OPTIMIZER_KERNELS_H_
