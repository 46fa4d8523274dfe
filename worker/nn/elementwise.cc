#include "worker/nn/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "worker/nn/elementwise.cc"
#include <hwy/foreach_target.h>  // Compiles this file once for each target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rowan {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kDotSums = 16;

void AddBiasRelu(const float* bias, int64_t m, int64_t n, float* y) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  for (int64_t i = 0; i < m; ++i, y += n) {
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      const auto v = hn::Add(hn::LoadU(d, y + j), hn::LoadU(d, bias + j));
      hn::StoreU(hn::IfThenZeroElse(hn::Lt(v, zero), v), d, y + j);  // Not Max, which may drop a NaN.
    }
    for (; j < n; ++j) {
      const float v = y[j] + bias[j];
      y[j] = v < 0 ? 0 : v;
    }
  }
}

void MaskByRelu(const float* activation, int64_t m, int64_t n, float* delta, float* bias_gradient) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  for (int64_t i = 0; i < m; ++i, activation += n, delta += n) {
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      const auto on = hn::Gt(hn::LoadU(d, activation + j), zero);
      const auto v = hn::IfThenElseZero(on, hn::LoadU(d, delta + j));
      hn::StoreU(v, d, delta + j);
      hn::StoreU(hn::Add(hn::LoadU(d, bias_gradient + j), v), d, bias_gradient + j);
    }
    for (; j < n; ++j) {
      delta[j] = activation[j] > 0 ? delta[j] : 0;
      bias_gradient[j] += delta[j];
    }
  }
}

void DotRows(const float* x, const float* weights, float bias, int64_t m, int64_t n, float* out) {
  const hn::CappedTag<float, kDotSums> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < m; ++i, x += n) {
    HWY_ALIGN float sums[kDotSums] = {};
    int64_t j = 0;
    for (; j + kDotSums <= n; j += kDotSums) {
      for (int64_t l = 0; l < kDotSums; l += lanes) {
        const auto product = hn::Mul(hn::LoadU(d, x + j + l), hn::LoadU(d, weights + j + l));
        hn::Store(hn::Add(hn::Load(d, sums + l), product), d, sums + l);
      }
    }
    for (int64_t l = 0; j + l < n; ++l) sums[l] += x[j + l] * weights[j + l];
    for (int64_t width = kDotSums / 2; width > 0; width /= 2) {
      for (int64_t l = 0; l < width; ++l) sums[l] += sums[l + width];
    }
    out[i] = sums[0] + bias;
  }
}

void AddScaledRows(const float* x, const float* scale, int64_t m, int64_t n, float* sum) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < m; ++i, x += n) {
    const auto s = hn::Set(d, scale[i]);
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, sum + j), hn::Mul(hn::LoadU(d, x + j), s)), d, sum + j);
    }
    for (; j < n; ++j) sum[j] += x[j] * scale[i];
  }
}

void DotRowsBack(const float* scale, const float* weights, int64_t m, int64_t n, float* x, float* bias_gradient) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  for (int64_t i = 0; i < m; ++i, x += n) {
    const auto s = hn::Set(d, scale[i]);
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      const auto on = hn::Gt(hn::LoadU(d, x + j), zero);
      const auto v = hn::IfThenElseZero(on, hn::Mul(hn::LoadU(d, weights + j), s));
      hn::StoreU(v, d, x + j);
      hn::StoreU(hn::Add(hn::LoadU(d, bias_gradient + j), v), d, bias_gradient + j);
    }
    for (; j < n; ++j) {
      x[j] = x[j] > 0 ? weights[j] * scale[i] : 0;
      bias_gradient[j] += x[j];
    }
  }
}

void SumParts(const float* const* parts, int64_t count, int64_t n, float* out) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    auto sum = hn::LoadU(d, parts[0] + j);
    for (int64_t p = 1; p < count; ++p) sum = hn::Add(sum, hn::LoadU(d, parts[p] + j));
    hn::StoreU(sum, d, out + j);
  }
  for (; j < n; ++j) {
    float sum = parts[0][j];
    for (int64_t p = 1; p < count; ++p) sum += parts[p][j];
    out[j] = sum;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rowan
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rowan {

HWY_EXPORT(AddBiasRelu);
HWY_EXPORT(MaskByRelu);
HWY_EXPORT(DotRows);
HWY_EXPORT(AddScaledRows);
HWY_EXPORT(DotRowsBack);
HWY_EXPORT(SumParts);

void AddBiasRelu(const float* bias, int64_t m, int64_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(AddBiasRelu)(bias, m, n, y);
}
void MaskByRelu(const float* activation, int64_t m, int64_t n, float* delta, float* bias_gradient) {
  HWY_DYNAMIC_DISPATCH(MaskByRelu)(activation, m, n, delta, bias_gradient);
}
void DotRows(const float* x, const float* weights, float bias, int64_t m, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(DotRows)(x, weights, bias, m, n, out);
}
void AddScaledRows(const float* x, const float* scale, int64_t m, int64_t n, float* sum) {
  HWY_DYNAMIC_DISPATCH(AddScaledRows)(x, scale, m, n, sum);
}
void DotRowsBack(const float* scale, const float* weights, int64_t m, int64_t n, float* x, float* bias_gradient) {
  HWY_DYNAMIC_DISPATCH(DotRowsBack)(scale, weights, m, n, x, bias_gradient);
}
void SumParts(const float* const* parts, int64_t count, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(SumParts)(parts, count, n, out);
}

}  // namespace rowan
#endif  // HWY_ONCE
