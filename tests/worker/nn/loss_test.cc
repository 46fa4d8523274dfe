#include "worker/nn/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace rowan {
namespace {

struct Exact {
  long double loss;
  long double dlogit;
  long double probability;
};

// By the textbook formulas, each in the half where it does not cancel.
Exact Reference(long double z, long double y) {
  const long double p = 1 / (1 + std::exp(-z));
  const long double q = 1 / (1 + std::exp(z));  // 1 - p
  const long double log_p = z > 0 ? -std::log1p(std::exp(-z)) : z - std::log1p(std::exp(z));
  const long double log_q = log_p - z;
  return {-(y * log_p + (1 - y) * log_q), y * -q + (1 - y) * p, p};
}

TEST(SigmoidCrossEntropyTest, EqualsLongDouble) {
  for (const float y : {0.0f, 1.0f, 0.25f}) {
    for (float z = -40; z <= 40; z += 0.37f) {
      float dlogit, probability;
      const double loss = SigmoidCrossEntropy(&z, &y, nullptr, 1, &dlogit, &probability);
      const Exact exact = Reference(z, y);
      ASSERT_NEAR(loss, exact.loss, 1e-14L * std::max(1.0L, std::abs(exact.loss)) + 1e-30L) << z << " " << y;
      ASSERT_NEAR(dlogit, exact.dlogit, 1e-7L * std::abs(exact.dlogit) + 1e-16L) << z << " " << y;
      ASSERT_NEAR(probability, exact.probability, 1e-7L * exact.probability) << z << " " << y;
      ASSERT_EQ(probability, Sigmoid(z));
    }
  }
}

TEST(SigmoidCrossEntropyTest, SmallGradientsOfWellPredictedSamplesKeepTheirDigits) {
  const float z = 30, y = 1;
  float dlogit;
  const double loss = SigmoidCrossEntropy(&z, &y, nullptr, 1, &dlogit, nullptr);
  EXPECT_NEAR(dlogit / -std::exp(-30.0), 1, 1e-6);
  EXPECT_NEAR(loss / std::exp(-30.0), 1, 1e-9);
}

TEST(SigmoidCrossEntropyTest, ExtremeLogitsStayFinite) {
  for (const float z : {-1e4f, 1e4f, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max()}) {
    for (const float y : {0.0f, 1.0f}) {
      float dlogit, probability;
      const double loss = SigmoidCrossEntropy(&z, &y, nullptr, 1, &dlogit, &probability);
      const bool right = (z > 0) == (y > 0);
      EXPECT_EQ(loss, right ? 0 : std::abs(static_cast<double>(z)));
      EXPECT_EQ(dlogit, right ? 0 : (z > 0 ? 1 : -1));
      EXPECT_EQ(probability, z > 0 ? 1 : 0);
    }
  }
}

TEST(SigmoidCrossEntropyTest, LogitThatIsNotFiniteShows) {
  const float kInf = std::numeric_limits<float>::infinity();
  for (const float z : {kInf, -kInf, std::numeric_limits<float>::quiet_NaN()}) {
    for (const float y : {0.0f, 1.0f}) {
      const float logits[] = {0, z, 0};
      const float labels[] = {y, y, y};
      EXPECT_FALSE(std::isfinite(SigmoidCrossEntropy(logits, labels, nullptr, 3, nullptr, nullptr))) << z << " " << y;
    }
  }
}

TEST(SigmoidCrossEntropyTest, SigmoidOfNanIsNan) {
  EXPECT_TRUE(std::isnan(Sigmoid(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(Sigmoid(std::numeric_limits<float>::infinity()), 1);
}

TEST(SigmoidCrossEntropyTest, WeightsScaleLossAndGradient) {
  const float logits[] = {0.5f, -2.0f, 3.0f};
  const float labels[] = {1, 0, 0};
  const float weights[] = {2, 0, 0.5f};
  float dlogits[3], plain[3];
  const double sum = SigmoidCrossEntropy(logits, labels, weights, 3, dlogits, nullptr);
  SigmoidCrossEntropy(logits, labels, nullptr, 3, plain, nullptr);
  EXPECT_NEAR(sum, 2 * Reference(0.5L, 1).loss + 0.5 * Reference(3, 0).loss, 1e-12);
  for (int i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(dlogits[i], weights[i] * plain[i]);
}

TEST(SigmoidCrossEntropyTest, EmptyIsZero) {
  EXPECT_EQ(SigmoidCrossEntropy(nullptr, nullptr, nullptr, 0, nullptr, nullptr), 0);
}

TEST(SigmoidCrossEntropyTest, SumIsInSampleOrder) {
  std::vector<float> logits, labels;
  double expected = 0;
  for (int i = 0; i < 1000; ++i) {
    logits.push_back(std::sin(i) * 5);
    labels.push_back(i % 3 == 0);
    expected += SigmoidCrossEntropy(&logits[i], &labels[i], nullptr, 1, nullptr, nullptr);
  }
  EXPECT_EQ(SigmoidCrossEntropy(logits.data(), labels.data(), nullptr, 1000, nullptr, nullptr), expected);
}

}  // namespace
}  // namespace rowan
