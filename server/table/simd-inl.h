// Loops for kernels. Included once per instruction set, after hwy/highway.h.
#if defined(ROWAN_SERVER_TABLE_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROWAN_SERVER_TABLE_SIMD_INL_H_
#undef ROWAN_SERVER_TABLE_SIMD_INL_H_
#else
#define ROWAN_SERVER_TABLE_SIMD_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rowan {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls step(d, i) so that the vectors [i, i + Lanes(d)) cover [0, n) once: full vectors, then vectors of 4 lanes, then
// single ones. No memory outside [0, n) is touched.
template <class Step>
HWY_INLINE void ForEachVector(int64_t n, const Step& step) {
  int64_t i = 0;
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  for (; i + lanes <= n; i += lanes) step(d, i);
  const hn::CappedTag<float, 4> d4;
  const int64_t lanes4 = hn::Lanes(d4);
  if (lanes4 > 1 && lanes4 < lanes) {
    for (; i + lanes4 <= n; i += lanes4) step(d4, i);
  }
  if (lanes > 1) {
    const hn::CappedTag<float, 1> d1;
    for (; i < n; ++i) step(d1, i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rowan
HWY_AFTER_NAMESPACE();

#endif  // ROWAN_SERVER_TABLE_SIMD_INL_H_
