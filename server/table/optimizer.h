// SliceOptimizer: how one gradient changes one row's slice (proto/table.proto, Optimizer).
//
// Gradients are MEANS over the samples of a step. An embedding's entry sees medians of 1e-6 (batch 2,048) down to 4e-8
// (batch 65,536), so the usual constants, made for sums of order 1, would drown it: an epsilon of 1e-8 or an
// accumulator that starts at 0.1 stops it from learning. The defaults below do not bend such gradients.
//
// Per element, g the mean gradient, w the value, t the row's own update count including this push. `state` is the
// slice's part of the row block: runs of `width` floats one after the other, in the order named here.
//
//   SGD               w -= learning_rate g                                        state: none
//   ADAGRAD           a += g^2                                                    state: a
//                     w -= learning_rate g / (sqrt(a) + epsilon)
//                     Duchi, Hazan, Singer 2011, figure 1 (diagonal)
//   ROW_WISE_ADAGRAD  a += mean over the slice of g^2                             state: a, ONE float
//                     w -= learning_rate / (sqrt(a) + epsilon) g
//                     Mudigere et al. 2022 (arXiv:2104.05158), section 3.1.3
//   ADAM              m = beta1 m + (1 - beta1) g                                 state: m, v
//                     v = beta2 v + (1 - beta2) g^2
//                     w -= learning_rate m' / (sqrt(v') + epsilon),  m' = m / (1 - beta1^t),  v' = v / (1 - beta2^t)
//                     Kingma, Ba 2015, algorithm 1; lazy: only a push moves m, v and t
//   FTRL              b = a + g^2                                                 state: z, a
//                     z += g - (sqrt(b) - sqrt(a)) / learning_rate w;  a = b
//                     w = -(z - sign(z) min(|z|, l1)) / ((beta + sqrt(a)) / learning_rate + l2)
//                     FTRL-proximal, McMahan et al. 2013, algorithm 1, which starts at w = 0. Another initial value is
//                     kept: at t = 1, z starts where the last line gives w. With l1 = l2 = 0 this is Adagrad.
//
// A division 0 / 0 (nothing seen yet, epsilon or beta 0) leaves w as it is. Squares and accumulators saturate at the
// largest float instead of becoming infinite.
//
//   field                default  range           unit
//   learning_rate                 [0, 1e9]        FTRL: [1e-9, 1e9], called alpha in the paper
//     SGD                0.1                      values per mean gradient. DLRM's for dense layers; a row that
//                                                 sees 1e-6 hardly moves: raise it in proportion to the batch, or use
//                                                 another
//     ADAGRAD            0.05                     values: what a row's first push moves each element by
//     ROW_WISE_ADAGRAD   0.05                     values, as ADAGRAD
//     ADAM               1e-3                     values, as ADAGRAD
//     FTRL               0.05                     values, as ADAGRAD
//   initial_accumulator  0        [0, 1e30]       mean gradient squared
//   epsilon                       [0, 1e9]        mean gradient
//     ADAGRAD, ROW_WISE  1e-15                    a guard only: 4e7 times below the smallest medians
//     ADAM               1e-10                    400 times below the smallest medians; still calms entries that
//                                                 see noise
//   beta1                0.9      [0, 1 - 1e-6]   none
//   beta2                0.999    [0, 1 - 1e-6]   none
//   l1, l2               0        [0, 1e30]       l1: sum of mean gradients; l2: mean gradient per value
//   beta                 1e-10    [0, 1e9]        mean gradient
//
// Bits: the same on every instruction set. Every operation is a correctly rounded float add, multiply, divide or square
// root in the order that optimizer_kernels.cc writes, never fused. Sums run in an order that does not know the vectors'
// length.
//
// Immutable, thread-safe, cheap to copy.
#ifndef ROWAN_SERVER_TABLE_OPTIMIZER_H_
#define ROWAN_SERVER_TABLE_OPTIMIZER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/table.pb.h"
#include "server/table/optimizer_kernels.h"

namespace rowan {

// One slice's optimizer, resolved from its spec.
class SliceOptimizer {
 public:
  // InvalidArgument naming the field, its value and its range for what lies outside the table above, for a field that
  // this kind does not have, for an unknown kind, and for a width below 1.
  static absl::StatusOr<SliceOptimizer> Create(const proto::Optimizer& spec, int64_t width);

  int64_t width() const { return width_; }
  int64_t state_floats() const { return state_floats_; }

  // Writes the state of a row that was never pushed.
  void InitState(float* state /* (state_floats) */) const;

  // One push to one row. Pointers need the alignment of a float; they must not overlap. `state` may be null when
  // state_floats() is 0. REQUIRES: gradient finite; update_count, this row's pushes including this one, >= 1.
  void Update(const float* gradient,  // (width) mean gradient
              int64_t update_count,
              float* values,  // (width)
              float* state    // (state_floats)
  ) const {
    kernel_(rates_, gradient, update_count, width_, values, state);
  }

 private:
  SliceOptimizer() = default;

  int64_t width_ = 0;
  int64_t state_floats_ = 0;
  int64_t accumulator_offset_ = 0;  // state[offset, state_floats) start at initial_accumulator_, those before at 0
  float initial_accumulator_ = 0;
  OptimizerRates rates_;
  OptimizerKernel kernel_ = nullptr;
  std::shared_ptr<const BetaPowers> beta_powers_;  // ADAM: what rates_ points to
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_OPTIMIZER_H_
