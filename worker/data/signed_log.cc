#include "worker/data/signed_log.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "worker/data/signed_log.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rowan {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Of 1 <= y <= 2^64: y = m * 2^e with m in [1/sqrt(2), sqrt(2)), log m = 2 atanh(s), s = (m - 1) / (m + 1), by its
// series up to s^21.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log(D d, V y) {
  const hn::RebindToUnsigned<D> du;
  const auto root = hn::Set(du, 0x3fe6a09e667f3bcd);       // The bits of 1/sqrt(2),
  const auto two_to_52 = hn::Set(du, 0x4330000000000000);  // and of 2^52: its lowest bits count in ones.
  const auto bits = hn::BitCast(du, y);
  const auto e = hn::ShiftRight<52>(hn::Sub(bits, root));
  const auto m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(e)));
  const auto exponent = hn::Sub(hn::BitCast(d, hn::Or(e, two_to_52)), hn::BitCast(d, two_to_52));

  const auto one = hn::Set(d, 1.0);
  const auto s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const auto q = hn::Mul(s, s);
  const auto q2 = hn::Mul(q, q);
  const auto q4 = hn::Mul(q2, q2);
  const auto pair = [&](double a, double b) { return hn::Add(hn::Set(d, a), hn::Mul(q, hn::Set(d, b))); };
  const auto low = hn::Add(pair(1.0 / 3, 1.0 / 5), hn::Mul(q2, pair(1.0 / 7, 1.0 / 9)));
  const auto high = hn::Add(pair(1.0 / 11, 1.0 / 13), hn::Mul(q2, pair(1.0 / 15, 1.0 / 17)));
  const auto top = hn::Mul(hn::Mul(q4, q4), pair(1.0 / 19, 1.0 / 21));
  const auto series = hn::Add(hn::Add(low, hn::Mul(q4, high)), top);
  const auto s2 = hn::Add(s, s);
  const auto log_m = hn::Add(s2, hn::Mul(hn::Mul(s2, q), series));
  return hn::Add(hn::Mul(exponent, hn::Set(d, 0.69314718055994530942)), log_m);
}

void SignedLogs(const int64_t* x, size_t n, float* out) {
  const hn::CappedTag<double, 8> d;
  constexpr size_t kPiece = 16;
  double y[kPiece];
  for (size_t begin = 0; begin < n; begin += kPiece) {
    const size_t size = std::min(kPiece, n - begin);
    for (size_t i = 0; i < size; ++i) {
      const double value = static_cast<double>(x[begin + i]);
      y[i] = 1 + (value < 0 ? -value : value);
    }
    std::fill(y + size, y + kPiece, 1.0);
    for (size_t i = 0; i < size; i += hn::Lanes(d)) hn::StoreU(Log(d, hn::LoadU(d, y + i)), d, y + i);
    for (size_t i = 0; i < size; ++i) out[begin + i] = static_cast<float>(x[begin + i] < 0 ? -y[i] : y[i]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rowan
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rowan {

HWY_EXPORT(SignedLogs);

void SignedLogs(absl::Span<const int64_t> x, float* out) { HWY_DYNAMIC_DISPATCH(SignedLogs)(x.data(), x.size(), out); }

}  // namespace rowan
#endif  // HWY_ONCE
