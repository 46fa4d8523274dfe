#include "worker/nn/gemm.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowan {
namespace {

using ::testing::ElementsAre;

std::vector<float> Random(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(n);
  for (float& value : values) value = uniform(random);
  return values;
}

class GemmTest : public ::testing::Test {
 protected:
  GemmTest() { UseOneThreadPerProduct(); }
};

TEST_F(GemmTest, EqualsTheTripleLoopForEveryTransposeAndLeadingDimension) {
  for (const auto& [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1}, {3, 5, 7}, {65, 33, 129}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        for (const bool accumulate : {false, true}) {
          SCOPED_TRACE(::testing::Message() << m << " " << n << " " << k << " " << ta << tb << accumulate);
          const int64_t lda = (ta ? m : k) + 2;
          const int64_t ldb = (tb ? k : n) + 3;
          const int64_t ldc = n + 4;
          const std::vector<float> a = Random((ta ? k : m) * lda, 1);
          const std::vector<float> b = Random((tb ? n : k) * ldb, 2);
          const std::vector<float> before = Random(m * ldc, 3);
          std::vector<float> c = before;
          Gemm({a.data(), lda, ta}, {b.data(), ldb, tb}, m, n, k, accumulate, c.data(), ldc);
          for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < ldc; ++j) {
              const double old = before[i * ldc + j];
              double expected = accumulate ? old : 0;
              for (int64_t l = 0; l < k && j < n; ++l) {
                expected += double{a[ta ? l * lda + i : i * lda + l]} * double{b[tb ? j * ldb + l : l * ldb + j]};
              }
              if (j >= n) expected = old;
              ASSERT_NEAR(c[i * ldc + j], expected, 1e-5) << i << ", " << j;
            }
          }
        }
      }
    }
  }
}

TEST_F(GemmTest, OutputIsNotReadUnlessAccumulating) {
  const std::vector<float> a = Random(20 * 30, 1);
  const std::vector<float> b = Random(30 * 40, 2);
  std::vector<float> c(20 * 40, std::numeric_limits<float>::quiet_NaN());
  Gemm({a.data(), 30, false}, {b.data(), 40, false}, 20, 40, 30, false, c.data(), 40);
  for (const float value : c) ASSERT_TRUE(std::isfinite(value));
}

TEST_F(GemmTest, EmptySizesDoWhatTheSumOverNothingMeans) {
  float c[] = {1, 2, 3, 4};
  Gemm({nullptr, 1, false}, {nullptr, 2, false}, 2, 2, 0, true, c, 2);
  EXPECT_THAT(c, ElementsAre(1, 2, 3, 4));
  Gemm({nullptr, 1, false}, {nullptr, 1, false}, 0, 2, 1, false, nullptr, 2);
  Gemm({nullptr, 1, false}, {nullptr, 1, false}, 2, 0, 1, false, nullptr, 1);
  Gemm({nullptr, 1, false}, {nullptr, 1, false}, 2, 1, 0, false, c, 2);
  EXPECT_THAT(c, ElementsAre(0, 2, 0, 4));
}

TEST_F(GemmTest, BitsDoNotDependOnAlignment) {
  const int64_t m = 61, n = 47, k = 83;
  std::vector<float> expected;
  for (const int64_t shift : {0, 1, 5, 16}) {
    std::vector<float> a = Random(m * k, 1);
    std::vector<float> b = Random(k * n, 2);
    a.insert(a.begin(), shift, 0.0f);
    b.insert(b.begin(), shift, 0.0f);
    std::vector<float> c(shift + m * n);
    Gemm({a.data() + shift, k, false}, {b.data() + shift, n, false}, m, n, k, false, c.data() + shift, n);
    c.erase(c.begin(), c.begin() + shift);
    if (expected.empty()) expected = c;
    EXPECT_EQ(std::memcmp(c.data(), expected.data(), c.size() * sizeof(float)), 0) << "shift " << shift;
  }
}

extern "C" void omp_set_num_threads(int threads);

void MultiplyWithTwoThreads() {
  omp_set_num_threads(2);
  float one = 1;
  float c = 0;
  Gemm({&one, 1, false}, {&one, 1, false}, 1, 1, 1, false, &c, 1);
}

TEST(GemmDeathTest, ThreadThatWasNotPreparedDies) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(MultiplyWithTwoThreads(), "UseOneThreadPerProduct");
}

}  // namespace
}  // namespace rowan
