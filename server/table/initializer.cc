#include "server/table/initializer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/placement.h"
#include "server/table/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/table/initializer.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rowan {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;
using UintTag = hn::RebindToUnsigned<FloatTag>;
using Float = hn::Vec<FloatTag>;
using Uint = hn::Vec<UintTag>;

constexpr uint32_t kElementGamma = 0x9e3779b9u;

// `x`: lo + kElementGamma (i + 1) of each lane.
HWY_INLINE Uint ElementBits(Uint x, Uint hi) {
  const UintTag d;
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Mul(x, hn::Set(d, 0x21f0aaadu));
  x = hn::Xor(x, hi);
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  x = hn::Mul(x, hn::Set(d, 0xd35a2d97u));
  return hn::Xor(x, hn::ShiftRight<15>(x));
}

// Writes n floats, value(element bits) each.
template <class Value>
HWY_INLINE void Generate(uint64_t state, uint32_t first, int64_t n, float* HWY_RESTRICT out, const Value& value) {
  const FloatTag d;
  const UintTag du;
  const int64_t lanes = hn::Lanes(d);
  const auto hi = hn::Set(du, static_cast<uint32_t>(state >> 32));
  const auto step = hn::Set(du, kElementGamma * static_cast<uint32_t>(lanes));
  auto x =
      hn::Add(hn::Set(du, static_cast<uint32_t>(state)), hn::Mul(hn::Iota(du, first + 1), hn::Set(du, kElementGamma)));
  for (int64_t i = 0; i < n; i += lanes) {
    const auto values = value(ElementBits(x, hi));
    if (i + lanes <= n) {
      hn::StoreU(values, d, out + i);
    } else {
      HWY_ALIGN float last[hn::MaxLanes(FloatTag())];
      hn::Store(values, d, last);
      std::memcpy(out + i, last, (n - i) * sizeof(float));
    }
    x = hn::Add(x, step);
  }
}

void FillUniform(uint64_t state, uint32_t first, int64_t n, float scale, float* out) {
  Generate(state, first, n, out, [scale](Uint bits) HWY_ATTR {
    const FloatTag d;
    const auto steps = hn::ConvertTo(d, hn::ShiftRight<8>(hn::BitCast(IntTag(), bits)));
    return hn::Mul(hn::Mul(steps, hn::Set(d, 0x1p-23f)), hn::Set(d, scale));
  });
}

// c[0] x^8 + c[1] x^7 + ... + c[8]: the even powers and the odd ones apart, to be quicker.
HWY_INLINE Float Polynomial(Float x, const float (&c)[9]) {
  const FloatTag d;
  const auto x2 = hn::Mul(x, x);
  auto even = hn::Set(d, c[0]), odd = hn::Set(d, c[1]);
  for (int i = 2; i < 8; i += 2) {
    even = hn::Add(hn::Mul(even, x2), hn::Set(d, c[i]));
    odd = hn::Add(hn::Mul(odd, x2), hn::Set(d, c[i + 1]));
  }
  even = hn::Add(hn::Mul(even, x2), hn::Set(d, c[8]));
  return hn::Add(even, hn::Mul(odd, x));
}

// The natural logarithm of a positive normal float.
HWY_INLINE Float Log(Float y) {
  static constexpr float kSeries[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                                      -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                                      2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
  const FloatTag d;
  const IntTag di;
  const auto bits = hn::BitCast(di, y);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));  // of sqrt(1/2)
  const auto e = hn::ConvertTo(d, exponent);
  // y = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
  const auto f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent))), hn::Set(d, 1.0f));
  const auto f2 = hn::Mul(f, f);
  auto sum = hn::Mul(hn::Mul(Polynomial(f, kSeries), f), f2);
  sum = hn::Add(sum, hn::Mul(e, hn::Set(d, -2.12194440e-4f)));
  sum = hn::Sub(sum, hn::Mul(f2, hn::Set(d, 0.5f)));
  return hn::Add(hn::Add(f, sum), hn::Mul(e, hn::Set(d, 0.693359375f)));
}

void FillNormal(uint64_t state, uint32_t first, int64_t n, float scale, float* out) {
  static constexpr float kMiddle[] = {2.81022636e-08f,  3.43273939e-07f, -3.5233877e-06f,
                                      -4.39150654e-06f, 0.00021858087f,  -0.00125372503f,
                                      -0.00417768164f,  0.246640727f,    1.50140941f};
  static constexpr float kTail[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                                    -0.0076224613f,   0.00943887047f,  1.00167406f,    2.83297682f};
  Generate(state, first, n, out, [scale](Uint bits) HWY_ATTR {
    const FloatTag d;
    const UintTag du;
    const auto sign = hn::And(bits, hn::Set(du, 0x80000000u));
    const auto magnitude = hn::ConvertTo(d, hn::BitCast(IntTag(), hn::Xor(bits, sign)));
    const auto p = hn::Mul(hn::Add(magnitude, hn::Set(d, 0.5f)), hn::Set(d, 0x1p-31f));
    const auto w = hn::Sub(hn::Zero(d), Log(hn::Mul(p, hn::Sub(hn::Set(d, 2.0f), p))));
    const auto middle = Polynomial(hn::Sub(w, hn::Set(d, 2.5f)), kMiddle);
    const auto tail = Polynomial(hn::Sub(hn::Sqrt(w), hn::Set(d, 3.0f)), kTail);
    const auto slope = hn::IfThenElse(hn::Lt(w, hn::Set(d, 5.0f)), middle, tail);
    const auto erfinv = hn::Mul(slope, hn::Sub(hn::Set(d, 1.0f), p));
    const auto z = hn::Mul(erfinv, hn::Set(d, 1.41421356f));
    return hn::Mul(hn::Xor(z, hn::BitCast(d, sign)), hn::Set(d, scale));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace rowan
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rowan {
namespace {

HWY_EXPORT(FillUniform);
HWY_EXPORT(FillNormal);

void FillConstant(uint64_t /*state*/, uint32_t /*first*/, int64_t n, float scale, float* out) {
  std::fill_n(out, n, scale);
}

}  // namespace

absl::StatusOr<SliceInitializer> SliceInitializer::Create(const proto::Initializer& spec, uint64_t table_seed,
                                                          int64_t slice_index, int64_t width) {
  const proto::Initializer::Kind kind = spec.kind();
  if (!proto::Initializer::Kind_IsValid(kind)) {
    return absl::InvalidArgumentError(absl::StrCat("initializer.kind is ", static_cast<int>(kind), ": takes 0 to ",
                                                   static_cast<int>(proto::Initializer::Kind_MAX)));
  }
  const bool random = kind == proto::Initializer::UNIFORM || kind == proto::Initializer::NORMAL;
  const float min = random ? 0 : -1e30f;
  if (!(spec.scale() >= min && spec.scale() <= 1e30f)) {
    return absl::InvalidArgumentError(absl::StrCat("initializer.scale is ", spec.scale(), ": ",
                                                   proto::Initializer::Kind_Name(kind), " takes ", min, " to 1e+30"));
  }
  if (width < 1 || width > int64_t{1} << 31) {
    return absl::InvalidArgumentError(absl::StrCat("width is ", width, ": takes 1 to ", int64_t{1} << 31));
  }
  SliceInitializer initializer;
  initializer.width_ = width;
  initializer.slice_seed_ = RandomBits(table_seed, slice_index);
  initializer.scale_ = kind == proto::Initializer::ZEROS ? 0 : spec.scale();
  switch (kind) {
    case proto::Initializer::UNIFORM:
      initializer.kernel_ = ROWAN_BEST_KERNEL(FillUniform);
      break;
    case proto::Initializer::NORMAL:
      initializer.kernel_ = ROWAN_BEST_KERNEL(FillNormal);
      break;
    default:
      initializer.kernel_ = &FillConstant;
  }
  return initializer;
}

void SliceInitializer::FillRange(uint64_t first_index, int64_t n, float* out) const {
  while (n > 0) {
    const int64_t first = first_index % kDenseBlockFloats;
    const int64_t piece = std::min(n, kDenseBlockFloats - first);
    kernel_(RandomBits(slice_seed_, first_index / kDenseBlockFloats), first, piece, scale_, out);
    first_index += piece;
    out += piece;
    n -= piece;
  }
}

}  // namespace rowan
#endif  // HWY_ONCE
