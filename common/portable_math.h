// Logarithm, exponential and random numbers that have the same bits on every machine.
//
// The C library's log and exp choose their code by processor and change between versions; these use only + - * / and
// sqrt, which IEEE 754 fixes, so that losses, gradients and generated files can be compared byte for byte (the build
// sets -ffp-contract=off).
// Stateless functions, and a generator owned by one thread.
#ifndef ROWAN_COMMON_PORTABLE_MATH_H_
#define ROWAN_COMMON_PORTABLE_MATH_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "common/hash.h"

namespace rowan {

// t * (the sum of t^k / (2k + 3), k = 0 .. 9), t = s^2: what 2 atanh(s) = log((1 + s) / (1 - s)) is made of.
// REQUIRES: |s| <= 0.1716.
inline double AtanhTail(double t) {
  // Evaluated in pairs: the processor works on several at once.
  const double t2 = t * t;
  const double t4 = t2 * t2;
  const double low = (1.0 / 3 + t * (1.0 / 5)) + t2 * (1.0 / 7 + t * (1.0 / 9));
  const double high = (1.0 / 11 + t * (1.0 / 13)) + t2 * (1.0 / 15 + t * (1.0 / 17));
  return t * (low + t4 * (high + t4 * (1.0 / 19 + t * (1.0 / 21))));
}

// The natural logarithm, to within 4 units in the last place (absolute error 1e-15 beside 1).
// REQUIRES: x is positive, finite and normal.
inline double PortableLog(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
  double m;
  std::memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1);  // |s| <= 0.1716
  return static_cast<double>(exponent) * 0.6931471805599453 + (2 * s + 2 * s * AtanhTail(s * s));
}

// log(1 + x), to within 4 units in the last place for 0 <= x, 1e-15 for all; NaN for NaN.
// REQUIRES: x > -1, 1 + x finite and normal, or NaN.
inline double PortableLog1p(double x) {
  if (!(x > -0.29 && x < 0.41)) return x == x ? PortableLog(1 + x) : x;
  const double s = x / (2 + x);
  return 2 * s + 2 * s * AtanhTail(s * s);
}

// e to the x, to within 4 units in the last place; x beyond +-700 counts as +-700.
inline double PortableExp(double x) {
  if (x > 700) x = 700;
  if (x < -700) x = -700;
  const double k = static_cast<double>(static_cast<int64_t>(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5)));
  // ln 2 in two pieces, the first short enough for k times it to be exact.
  const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  // Sum of r^n / n!, n = 0 .. 13, |r| <= 0.3466.
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double a = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  const double b = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  const double c = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800));
  const double sum = 1 + (r + r2 * (a + r4 * (b + r4 * c)));
  const uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(k) + 1023) << 52;
  double scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return sum * scale;
}

// A number in (0, 1), the middle of one of 2^52 equal cells, from random bits.
inline double UnitFromBits(uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

// The elements of the random sequence `seed` (common/hash.h) one after another.
class RandomStream {
 public:
  explicit RandomStream(uint64_t seed) : seed_(seed) {}

  double NextUnit() { return UnitFromBits(RandomBits(seed_, next_++)); }

  // Sets `a` and `b` to two independent standard normal numbers (Marsaglia's polar method, 1964).
  void NextNormals(double* a, double* b) {
    double x, y, r;
    do {
      x = 2 * NextUnit() - 1;
      y = 2 * NextUnit() - 1;
      r = x * x + y * y;
    } while (r >= 1 || r == 0);
    const double scale = std::sqrt(-2 * PortableLog(r) / r);
    *a = x * scale;
    *b = y * scale;
  }

 private:
  const uint64_t seed_;
  uint64_t next_ = 0;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_PORTABLE_MATH_H_
