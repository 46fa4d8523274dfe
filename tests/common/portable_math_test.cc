#include "common/portable_math.h"

#include <cmath>

#include "gtest/gtest.h"

namespace rowan {
namespace {

TEST(PortableMathTest, LogAgreesWithTheLibrary) {
  for (double x = 1e-12; x < 1e12; x *= 1.00037) {
    ASSERT_NEAR(PortableLog(x), std::log(x), 1e-15 + 1e-15 * std::fabs(std::log(x))) << x;
  }
  EXPECT_EQ(PortableLog(1), 0);
}

TEST(PortableMathTest, Log1pAgreesWithTheLibrary) {
  for (double x = 1e-300; x < 1e12; x *= 1.0037) ASSERT_NEAR(PortableLog1p(x) / std::log1p(x), 1, 1e-15) << x;
  for (double x = -0.9999999; x < 0.6; x += 0.000137) ASSERT_NEAR(PortableLog1p(x), std::log1p(x), 5e-15) << x;
  EXPECT_EQ(PortableLog1p(0), 0);
  EXPECT_TRUE(std::isnan(PortableLog1p(std::nan(""))));
}

TEST(PortableMathTest, ExpAgreesWithTheLibrary) {
  for (double x = -100; x < 100; x += 0.00713) ASSERT_NEAR(PortableExp(x) / std::exp(x), 1, 2e-15) << x;
  EXPECT_EQ(PortableExp(0), 1);
}

// If these change, so does every generated file.
TEST(PortableMathTest, BitsAreThoseOfEveryMachine) {
  EXPECT_EQ(PortableLog(10), 0x1.26bb1bbb55515p+1);
  EXPECT_EQ(PortableLog(0.3), -0x1.34378fcbda72p+0);
  EXPECT_EQ(PortableExp(1), 0x1.5bf0a8b14576ap+1);
  EXPECT_EQ(PortableExp(-7.25), 0x1.7455fe323fafep-11);
}

TEST(PortableMathTest, UnitStaysInsideZeroAndOne) {
  EXPECT_GT(UnitFromBits(0), 0);
  EXPECT_LT(UnitFromBits(~uint64_t{0}), 1);
}

TEST(PortableMathTest, NormalsHaveNormalMoments) {
  RandomStream random(7);
  const int n = 200000;
  double sum = 0, square = 0, fourth = 0, product = 0;
  for (int i = 0; i < n; ++i) {
    double a, b;
    random.NextNormals(&a, &b);
    sum += a + b;
    square += a * a + b * b;
    fourth += a * a * a * a + b * b * b * b;
    product += a * b;
  }
  // Five standard errors each.
  EXPECT_NEAR(sum / (2 * n), 0, 5 * std::sqrt(0.5 / n));
  EXPECT_NEAR(square / (2 * n), 1, 5 * std::sqrt(1.0 / n));
  EXPECT_NEAR(fourth / (2 * n), 3, 5 * std::sqrt(48.0 / n));
  EXPECT_NEAR(product / n, 0, 5 * std::sqrt(1.0 / n));
}

}  // namespace
}  // namespace rowan
