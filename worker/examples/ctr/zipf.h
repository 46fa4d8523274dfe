// Zipf: ranks 1..n drawn with probability proportional to rank^-exponent, in constant memory for any n.
//
// Rejection-inversion, W. Hoermann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
// distributions", 1996: exact up to the rounding of doubles, about 1.1 tries a draw. Immutable, so thread-safe.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_ZIPF_H_
#define ROWAN_WORKER_EXAMPLES_CTR_ZIPF_H_

#include <cstdint>

#include "common/portable_math.h"

namespace rowan {

class Zipf {
 public:
  // REQUIRES: n >= 1; exponent > 1 (1.05 to 1.3 are what the tests cover).
  Zipf(int64_t n, double exponent)
      : n_(n),
        exponent_(exponent),
        first_(Area(1.5) - 1),
        last_(Area(static_cast<double>(n) + 0.5)),
        accept_(2 - AreaInverse(Area(2.5) - Density(2))) {
    for (int k = 0; k < kCommon; ++k) threshold_[k] = k == 0 ? 0 : Threshold(k);
  }

  // A rank in 1..n.
  int64_t Draw(RandomStream* random) const {
    while (true) {
      const double u = last_ + random->NextUnit() * (first_ - last_);
      const double x = AreaInverse(u);
      int64_t rank = static_cast<int64_t>(x + 0.5);
      if (rank < 1) rank = 1;
      if (rank > n_) rank = n_;
      const double k = static_cast<double>(rank);
      if (k - x <= accept_ || u >= (rank < kCommon ? threshold_[rank] : Threshold(k))) return rank;
    }
  }

 private:
  double Density(double x) const { return PortableExp(-exponent_ * PortableLog(x)); }
  // The integral of Density up to x, zero at 1, and its inverse.
  double Area(double x) const { return (PortableExp((1 - exponent_) * PortableLog(x)) - 1) / (1 - exponent_); }
  double AreaInverse(double u) const { return PortableExp(PortableLog(1 + u * (1 - exponent_)) / (1 - exponent_)); }
  // The least area at which rank k is accepted.
  double Threshold(double k) const { return Area(k + 0.5) - Density(k); }

  static constexpr int kCommon = 64;

  const int64_t n_;
  const double exponent_;
  const double first_;         // Area where rank 1 begins.
  const double last_;          // Area where rank n ends.
  const double accept_;        // A rank this little above its x needs no test.
  double threshold_[kCommon];  // By rank: the common ones, computed beforehand.
};

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_ZIPF_H_
