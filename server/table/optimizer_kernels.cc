#include "server/table/optimizer_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/table/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/table/optimizer_kernels.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "server/table/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rowan {
namespace HWY_NAMESPACE {

// Keeps sums of squares finite.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Saturate(D d, V v) {
  return hn::Min(v, hn::Set(d, std::numeric_limits<float>::max()));
}

// a / b, 0 where b is 0. REQUIRES: b >= 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V DivideOrZero(D d, V a, V b) {
  return hn::IfThenElseZero(hn::Gt(b, hn::Zero(d)), hn::Div(a, b));
}

// values[i ..] -= rate * direction.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Descend(D d, float rate, V direction, float* values) {
  hn::StoreU(hn::Sub(hn::LoadU(d, values), hn::Mul(hn::Set(d, rate), direction)), d, values);
}

// Blocks of 16 go to 16 partial sums, then blocks of 4 to the first four; a tree adds these; then come the last
// elements, one by one. Vectors of 4 lanes on every target but the scalar one, which spells them out.
HWY_INLINE float SumOfSquares(const float* x, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET == HWY_SCALAR
  float sums[16] = {};
  for (; i + 16 <= n; i += 16) {
    for (int lane = 0; lane < 16; ++lane) sums[lane] += x[i + lane] * x[i + lane];
  }
  for (; i + 4 <= n; i += 4) {
    for (int lane = 0; lane < 4; ++lane) sums[lane] += x[i + lane] * x[i + lane];
  }
  for (int lane = 0; lane < 4; ++lane) sums[lane] = (sums[lane] + sums[lane + 4]) + (sums[lane + 8] + sums[lane + 12]);
  float total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
#else
  const hn::FixedTag<float, 4> d;
  const auto add_square = [&](auto& sum, int64_t at) HWY_ATTR {
    const auto v = hn::LoadU(d, x + at);
    sum = hn::Add(sum, hn::Mul(v, v));
  };
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  for (; i + 16 <= n; i += 16) {
    add_square(sum0, i);
    add_square(sum1, i + 4);
    add_square(sum2, i + 8);
    add_square(sum3, i + 12);
  }
  for (; i + 4 <= n; i += 4) add_square(sum0, i);
  const auto lanes = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
  const auto pairs = hn::Add(lanes, hn::Shuffle2301(lanes));
  float total = hn::GetLane(hn::Add(pairs, hn::Shuffle1032(pairs)));
#endif
  for (; i < n; ++i) total += x[i] * x[i];
  return total;
}

void Sgd(const OptimizerRates& rates, const float* HWY_RESTRICT gradient, int64_t /*update_count*/, int64_t width,
         float* HWY_RESTRICT values, float* /*state*/) {
  ForEachVector(width, [&](auto d, int64_t i)
                           HWY_ATTR { Descend(d, rates.learning_rate, hn::LoadU(d, gradient + i), values + i); });
}

void Adagrad(const OptimizerRates& rates, const float* HWY_RESTRICT gradient, int64_t /*update_count*/, int64_t width,
             float* HWY_RESTRICT values, float* HWY_RESTRICT state) {
  ForEachVector(width, [&](auto d, int64_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, gradient + i);
    const auto a = Saturate(d, hn::Add(hn::LoadU(d, state + i), hn::Mul(g, g)));
    hn::StoreU(a, d, state + i);
    const auto size = hn::Add(hn::Sqrt(a), hn::Set(d, rates.epsilon));
    Descend(d, rates.learning_rate, DivideOrZero(d, g, size), values + i);
  });
}

void RowWiseAdagrad(const OptimizerRates& rates, const float* HWY_RESTRICT gradient, int64_t /*update_count*/,
                    int64_t width, float* HWY_RESTRICT values, float* HWY_RESTRICT state) {
  const float mean_square = SumOfSquares(gradient, width) / static_cast<float>(width);
  const float a = std::min(state[0] + mean_square, std::numeric_limits<float>::max());
  state[0] = a;
  const float size = std::sqrt(a) + rates.epsilon;
  const float rate = size > 0 ? rates.learning_rate / size : 0;
  ForEachVector(width, [&](auto d, int64_t i) HWY_ATTR { Descend(d, rate, hn::LoadU(d, gradient + i), values + i); });
}

void Adam(const OptimizerRates& rates, const float* HWY_RESTRICT gradient, int64_t update_count, int64_t width,
          float* HWY_RESTRICT values, float* HWY_RESTRICT state) {
  const float correction1 = static_cast<float>(1.0 / (1.0 - rates.beta_powers->beta1(update_count)));
  const float correction2 = static_cast<float>(1.0 / (1.0 - rates.beta_powers->beta2(update_count)));
  float* HWY_RESTRICT moment1 = state;
  float* HWY_RESTRICT moment2 = state + width;
  ForEachVector(width, [&](auto d, int64_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, gradient + i);
    const auto m = hn::Add(hn::Mul(hn::Set(d, rates.beta1), hn::LoadU(d, moment1 + i)),
                           hn::Mul(hn::Set(d, rates.one_minus_beta1), g));
    const auto v = Saturate(d, hn::Add(hn::Mul(hn::Set(d, rates.beta2), hn::LoadU(d, moment2 + i)),
                                       hn::Mul(hn::Set(d, rates.one_minus_beta2), hn::Mul(g, g))));
    hn::StoreU(m, d, moment1 + i);
    hn::StoreU(v, d, moment2 + i);
    const auto mean = hn::Mul(m, hn::Set(d, correction1));
    const auto variance = Saturate(d, hn::Mul(v, hn::Set(d, correction2)));
    const auto size = hn::Add(hn::Sqrt(variance), hn::Set(d, rates.epsilon));
    Descend(d, rates.learning_rate, DivideOrZero(d, mean, size), values + i);
  });
}

void Ftrl(const OptimizerRates& rates, const float* HWY_RESTRICT gradient, int64_t update_count, int64_t width,
          float* HWY_RESTRICT values, float* HWY_RESTRICT state) {
  const bool first = update_count == 1;
  float* HWY_RESTRICT linear = state;
  float* HWY_RESTRICT squares = state + width;
  ForEachVector(width, [&](auto d, int64_t i) HWY_ATTR {
    const auto zero = hn::Zero(d);
    const auto l1 = hn::Set(d, rates.l1);
    const auto inverse_rate = hn::Set(d, rates.inverse_learning_rate);
    // The denominator of w.
    const auto curvature = [&](auto root) HWY_ATTR {
      return hn::Add(hn::Mul(hn::Add(hn::Set(d, rates.beta), root), inverse_rate), hn::Set(d, rates.l2));
    };
    const auto g = hn::LoadU(d, gradient + i);
    const auto w = hn::LoadU(d, values + i);
    const auto a = hn::LoadU(d, squares + i);
    const auto b = Saturate(d, hn::Add(a, hn::Mul(g, g)));
    const auto root_a = hn::Sqrt(a);
    const auto root_b = hn::Sqrt(b);
    auto z = hn::LoadU(d, linear + i);
    if (first) {
      const auto shrunk = hn::IfThenElseZero(hn::Ne(w, zero), hn::CopySign(l1, w));
      z = hn::Sub(hn::Sub(zero, hn::Mul(w, curvature(root_a))), shrunk);
    }
    // sqrt(b) - sqrt(a) without cancellation.
    const auto growth = DivideOrZero(d, hn::Sub(b, a), hn::Add(root_b, root_a));
    z = hn::Add(z, hn::Sub(g, hn::Mul(hn::Mul(growth, inverse_rate), w)));
    const auto size = hn::Abs(z);
    const auto shrunk = hn::IfThenElseZero(hn::Gt(size, l1), hn::CopySign(hn::Sub(size, l1), z));
    const auto denominator = curvature(root_b);
    const auto next = hn::Div(hn::Sub(zero, shrunk), denominator);
    hn::StoreU(z, d, linear + i);
    hn::StoreU(b, d, squares + i);
    hn::StoreU(hn::IfThenElse(hn::Gt(denominator, zero), next, w), d, values + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace rowan
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rowan {

HWY_EXPORT(Sgd);
HWY_EXPORT(Adagrad);
HWY_EXPORT(RowWiseAdagrad);
HWY_EXPORT(Adam);
HWY_EXPORT(Ftrl);

BetaPower::BetaPower(double beta) {
  double base = beta;  // beta^(16^k)
  for (auto& digits : powers_) {
    digits[0] = 1;
    for (int d = 1; d < 16; ++d) digits[d] = digits[d - 1] * base;
    base *= digits[15];
  }
}

OptimizerKernel FindOptimizerKernel(proto::Optimizer::Kind kind) {
  switch (kind) {
    case proto::Optimizer::SGD:
      return ROWAN_BEST_KERNEL(Sgd);
    case proto::Optimizer::ADAGRAD:
      return ROWAN_BEST_KERNEL(Adagrad);
    case proto::Optimizer::ROW_WISE_ADAGRAD:
      return ROWAN_BEST_KERNEL(RowWiseAdagrad);
    case proto::Optimizer::ADAM:
      return ROWAN_BEST_KERNEL(Adam);
    case proto::Optimizer::FTRL:
      return ROWAN_BEST_KERNEL(Ftrl);
    default:
      return nullptr;
  }
}

}  // namespace rowan
#endif  // HWY_ONCE
