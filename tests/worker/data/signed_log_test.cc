#include "worker/data/signed_log.h"

#include <cmath>
#include <limits>
#include <vector>

#include "common/hash.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace rowan {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

float ExpectedLog(int64_t x) {
  const long double y = static_cast<long double>(x);
  return static_cast<float>(x >= 0 ? std::log1p(y) : -std::log1p(-y));
}

TEST(SignedLogTest, TakesTheSignedLogOfEveryInteger) {
  EXPECT_EQ(SignedLog(0), 0.0f);
  for (int64_t x = -70'000; x <= 70'000; ++x) ASSERT_FLOAT_EQ(SignedLog(x), ExpectedLog(x)) << x;
  for (const int64_t x : {kMin, kMin + 1, kMax - 1, kMax}) EXPECT_FLOAT_EQ(SignedLog(x), ExpectedLog(x)) << x;
  int64_t unequal = 0;
  for (uint64_t i = 0; i < 200'000; ++i) {
    const auto x = static_cast<int64_t>(RandomBits(3, i)) >> (i % 64);
    ASSERT_FLOAT_EQ(SignedLog(x), ExpectedLog(x)) << x;
    unequal += SignedLog(x) != ExpectedLog(x);
  }
  EXPECT_LE(unequal, 2);  // Ties that the last bit of the double decides.
}

// FROZEN: these bits, on every machine.
TEST(SignedLogTest, TakesTheSameLogEverywhere) {
  EXPECT_EQ(SignedLog(1), 0x1.62e430p-1f);
  EXPECT_EQ(SignedLog(-2), -0x1.193ea8p+0f);
  EXPECT_EQ(SignedLog(1234567), 0x1.c0d6e4p+3f);
  EXPECT_EQ(SignedLog(kMin), -0x1.5d58a0p+5f);
}

TEST(SignedLogTest, GivesTheSameBitsWithEveryInstructionSet) {
  std::vector<int64_t> x = {kMin, kMax, 0};
  for (uint64_t i = 0; i < 10'000; ++i) x.push_back(static_cast<int64_t>(RandomBits(4, i)) >> (i % 64));
  std::vector<float> best(x.size()), other(x.size());
  SignedLogs(x, best.data());
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SignedLogs(x, other.data());
    EXPECT_EQ(other, best) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(SignedLogTest, TreatsEachOfManyAsIfAlone) {
  for (size_t n = 0; n < 40; ++n) {
    std::vector<int64_t> x;
    for (uint64_t i = 0; i < n; ++i) x.push_back(static_cast<int64_t>(RandomBits(n, i)) >> 40);
    std::vector<float> out(n + 1, 7);
    SignedLogs(x, out.data());
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], SignedLog(x[i]));
    EXPECT_EQ(out[n], 7);
  }
}

}  // namespace
}  // namespace rowan
