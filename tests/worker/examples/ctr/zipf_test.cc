#include "worker/examples/ctr/zipf.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace rowan {
namespace {

// Chi-square of draws against the law, ranks pooled into cells that expect at least 50 draws; in standard deviations.
double Surprise(int64_t n, double exponent, int draws) {
  const Zipf zipf(n, exponent);
  RandomStream random(static_cast<uint64_t>(n));
  std::vector<int> count(n + 1);
  for (int i = 0; i < draws; ++i) {
    const int64_t rank = zipf.Draw(&random);
    EXPECT_GE(rank, 1);
    EXPECT_LE(rank, n);
    ++count[rank];
  }
  double total = 0;
  for (int64_t k = 1; k <= n; ++k) total += std::pow(k, -exponent);
  double chi = 0, expected = 0, seen = 0, rest = draws;
  int cells = 0;
  for (int64_t k = 1; k <= n; ++k) {
    expected += draws * std::pow(k, -exponent) / total;
    seen += count[k];
    if (expected < 50 || (rest - expected < 50 && k < n)) continue;
    chi += (seen - expected) * (seen - expected) / expected;
    rest -= expected;
    ++cells;
    expected = seen = 0;
  }
  return (chi - (cells - 1)) / std::sqrt(2.0 * (cells - 1));
}

TEST(ZipfTest, FollowsTheLawAtEverySize) {
  for (double exponent : {1.05, 1.1, 1.3}) {
    for (int64_t n : {3, 10, 100, 5000, 1000000}) {
      // The largest of fifteen is beyond 5 about once in 10,000 seeds.
      EXPECT_LT(Surprise(n, exponent, 300000), 5) << n << " ranks, exponent " << exponent;
    }
  }
}

TEST(ZipfTest, OneRankIsAlwaysDrawn) {
  const Zipf zipf(1, 1.2);
  RandomStream random(1);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(zipf.Draw(&random), 1);
}

}  // namespace
}  // namespace rowan
