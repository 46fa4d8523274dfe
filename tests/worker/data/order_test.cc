#include "worker/data/order.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "common/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowan {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> Rows(int64_t rows, uint64_t seed, int64_t epoch, int64_t window) {
  const Order order(rows, seed, epoch, window);
  std::vector<int64_t> sequence(rows);
  for (int64_t i = 0; i < rows; ++i) sequence[i] = order.RowAt(i);
  return sequence;
}

TEST(OrderTest, KeepsTheOrderOfTheFilesWithoutWindow) {
  std::vector<int64_t> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(Rows(1000, 1, 2, 0), expected);
  EXPECT_EQ(Rows(1000, 1, 2, 1), expected);
}

TEST(OrderTest, ReadsEachRowOnceAndWithinItsWindow) {
  for (int64_t rows : {0, 1, 2, 3, 4, 5, 7, 8, 9, 100, 1000, 4097}) {
    for (int64_t window : {1, 2, 3, 10, 64, 999, 5000}) {
      for (int64_t epoch : {0, 1}) {
        const std::vector<int64_t> sequence = Rows(rows, 11, epoch, window);
        std::vector<bool> seen(rows);
        for (int64_t i = 0; i < rows; ++i) {
          ASSERT_GE(sequence[i], 0);
          ASSERT_LT(sequence[i], rows);
          EXPECT_FALSE(seen[sequence[i]]);
          seen[sequence[i]] = true;
          EXPECT_EQ(sequence[i] / window, i / window);
        }
      }
    }
  }
}

TEST(OrderTest, ShufflesTheWholeEpochInAWindowOfAllRows) { EXPECT_EQ(Rows(500, 3, 1, 500), Rows(500, 3, 1, 1 << 30)); }

TEST(OrderTest, DiffersByEpochSeedAndWindow) {
  const int64_t n = 10'000;
  const std::vector<int64_t> base = Rows(n, 5, 0, n);
  const auto equal_places = [&](const std::vector<int64_t>& other) {
    int64_t equal = 0;
    for (int64_t i = 0; i < n; ++i) equal += base[i] == other[i];
    return equal;
  };
  // Two random orders agree in about one place.
  EXPECT_LT(equal_places(Rows(n, 5, 1, n)), 10);
  EXPECT_LT(equal_places(Rows(n, 6, 0, n)), 10);
  const std::vector<int64_t> windows = Rows(n, 5, 0, n / 2);
  int64_t equal = 0;
  for (int64_t i = 0; i < n / 2; ++i) equal += windows[i] == windows[n / 2 + i] - n / 2;
  EXPECT_LT(equal, 10);
}

// Chi-square of (part of the sequence, part of the data), and of neighbours.
TEST(OrderTest, PutsRowsAnywhereAlike) {
  constexpr int kParts = 16;
  for (const int64_t n : {1000, 4096, 4097, 100'000}) {
    std::vector<double> places(kParts * kParts), neighbours(kParts * kParts);
    const int epochs = static_cast<int>(200'000 / n);
    for (int epoch = 0; epoch < epochs; ++epoch) {
      const std::vector<int64_t> sequence = Rows(n, 77, epoch, n);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t part = sequence[i] * kParts / n;
        ++places[i * kParts / n * kParts + part];
        ++neighbours[sequence[(i + 1) % n] * kParts / n * kParts + part];
      }
    }
    const double expected = static_cast<double>(n) * epochs / (kParts * kParts);
    for (const auto& table : {places, neighbours}) {
      double chi_square = 0;
      for (const double count : table) chi_square += (count - expected) * (count - expected) / expected;
      // 15 * 15 degrees of freedom; 310 is exceeded once in 10,000 random tables.
      EXPECT_LT(chi_square, 310) << n;
      EXPECT_GT(chi_square, 140) << n;
    }
  }
}

TEST(OrderTest, DrawsAllOrdersOfFewRowsAlike) {
  for (const int64_t n : {2, 3, 4, 5}) {
    std::map<std::vector<int64_t>, double> counts;
    const int draws = 60'000;
    for (int seed = 0; seed < draws; ++seed) ++counts[Rows(n, seed, 0, n)];
    double orders = 1;
    for (int64_t i = 2; i <= n; ++i) orders *= static_cast<double>(i);
    EXPECT_EQ(static_cast<double>(counts.size()), orders);
    double chi_square = 0;
    for (const auto& [order, count] : counts)
      chi_square += (count - draws / orders) * (count - draws / orders) / (draws / orders);
    EXPECT_LT(chi_square, orders + 5 * std::sqrt(2 * orders)) << n;
  }
}

TEST(OrderTest, ReachesEveryRowOfAHugeEpoch) {
  const int64_t n = (int64_t{1} << 62) + 12345;
  int64_t smallest = n, largest = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    const int64_t row = Order(n, 1, 1, n).RowAt(n - 1 - i);
    ASSERT_GE(row, 0);
    ASSERT_LT(row, n);
    smallest = std::min(smallest, row);
    largest = std::max(largest, row);
  }
  EXPECT_LT(smallest, n / 100);
  EXPECT_GT(largest, n / 100 * 99);
}

// FROZEN: runs that resume depend on these.
TEST(OrderTest, IsTheFunctionItAlwaysWas) {
  EXPECT_THAT(Rows(10, 0, 0, 10), ElementsAre(4, 3, 2, 8, 0, 7, 6, 5, 1, 9));
  EXPECT_THAT(Rows(10, 42, 3, 4), ElementsAre(2, 0, 3, 1, 4, 6, 7, 5, 9, 8));
  const Order large(1'000'000'007, 7, 1, 1'000'000'007);
  EXPECT_EQ(large.RowAt(0), 978525127);
  EXPECT_EQ(large.RowAt(1'000'000'006), 186070247);
}

}  // namespace
}  // namespace rowan
