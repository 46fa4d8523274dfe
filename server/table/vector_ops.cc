#include "server/table/vector_ops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/table/vector_ops.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "server/table/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rowan {
namespace HWY_NAMESPACE {

// Whether no lane is NaN or infinite: x - x is 0 for the others.
template <class D, class V = hn::Vec<D>>
HWY_INLINE bool Finite(D d, V x) {
  return hn::AllTrue(d, hn::Eq(hn::Sub(x, x), hn::Zero(d)));
}

bool ScaleAllKernel(const float* in, float scale, int64_t n, float* out) {
  bool finite = true;
  ForEachVector(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto scaled = hn::Mul(hn::LoadU(d, in + i), hn::Set(d, scale));
    hn::StoreU(scaled, d, out + i);
    finite &= Finite(d, scaled);
  });
  return finite;
}

void AddToKernel(const float* in, int64_t n, float* acc) {
  ForEachVector(n, [&](auto d, int64_t i)
                       HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d, acc + i), hn::LoadU(d, in + i)), d, acc + i); });
}

bool AllFiniteKernel(const float* values, int64_t n) {
  bool finite = true;
  ForEachVector(n, [&](auto d, int64_t i) HWY_ATTR { finite &= Finite(d, hn::LoadU(d, values + i)); });
  return finite;
}

}  // namespace HWY_NAMESPACE
}  // namespace rowan
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rowan {
namespace {

HWY_EXPORT(ScaleAllKernel);
HWY_EXPORT(AddToKernel);
HWY_EXPORT(AllFiniteKernel);

}  // namespace

bool ScaleAll(const float* in, float scale, int64_t n, float* out) {
  return HWY_DYNAMIC_DISPATCH(ScaleAllKernel)(in, scale, n, out);
}

void AddTo(const float* in, int64_t n, float* acc) { HWY_DYNAMIC_DISPATCH(AddToKernel)(in, n, acc); }

bool AllFinite(const float* values, int64_t n) { return HWY_DYNAMIC_DISPATCH(AllFiniteKernel)(values, n); }

}  // namespace rowan
#endif  // HWY_ONCE
