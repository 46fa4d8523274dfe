#include "server/table/vector_ops.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/table/targets.h"

namespace rowan {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMax = std::numeric_limits<float>::max();

std::vector<float> Numbers(int64_t n) {
  std::vector<float> numbers(n);
  for (int64_t i = 0; i < n; ++i) numbers[i] = 0.1f * (i + 1) - 3;
  return numbers;
}

TEST(VectorOpsTest, ScalesAndAddsElementByElement) {
  testing::ForEachTarget([] {
    for (int64_t n = 0; n <= 100; ++n) {
      const std::vector<float> in = Numbers(n);
      std::vector<float> out(n + 1, 7), acc(n + 1, 0.3f);
      ASSERT_TRUE(ScaleAll(in.data(), 0.7f, n, out.data()));
      AddTo(in.data(), n, acc.data());
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(out[i], in[i] * 0.7f);
        ASSERT_EQ(acc[i], 0.3f + in[i]);
      }
      ASSERT_EQ(out[n], 7);
      ASSERT_EQ(acc[n], 0.3f);
    }
  });
}

TEST(VectorOpsTest, WorksInPlace) {
  std::vector<float> numbers = Numbers(37);
  ASSERT_TRUE(ScaleAll(numbers.data(), 2, 37, numbers.data()));
  AddTo(numbers.data(), 37, numbers.data());
  for (int i = 0; i < 37; ++i) EXPECT_EQ(numbers[i], 4 * Numbers(37)[i]);
}

TEST(VectorOpsTest, OneBadElementAnywhereIsSeen) {
  testing::ForEachTarget([] {
    for (int64_t n = 1; n <= 70; ++n) {
      for (int64_t bad = 0; bad < n; ++bad) {
        for (const float value : {kNan, -kNan, kInfinity, -kInfinity}) {
          std::vector<float> numbers = Numbers(n), out(n);
          numbers[bad] = value;
          ASSERT_FALSE(AllFinite(numbers.data(), n)) << n << " " << bad << " " << value;
          ASSERT_FALSE(ScaleAll(numbers.data(), 0, n, out.data())) << n << " " << bad << " " << value;
        }
      }
    }
  });
}

TEST(VectorOpsTest, ExtremeFiniteNumbersAreFinite) {
  const std::vector<float> numbers = {kMax, -kMax, std::numeric_limits<float>::denorm_min(), 0.0f, -0.0f};
  std::vector<float> out(5);
  EXPECT_TRUE(AllFinite(numbers.data(), 5));
  EXPECT_TRUE(ScaleAll(numbers.data(), 1, 5, out.data()));
  EXPECT_FALSE(ScaleAll(numbers.data(), 1.5f, 5, out.data()));
  EXPECT_FALSE(ScaleAll(numbers.data() + 2, kInfinity, 1, out.data()));
  EXPECT_TRUE(AllFinite(nullptr, 0));
}

}  // namespace
}  // namespace rowan
