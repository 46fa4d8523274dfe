#include "worker/nn/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace rowan {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The definition: over all pairs of a positive and a negative.
double AucOfAllPairs(const std::vector<float>& scores, const std::vector<float>& labels) {
  int64_t half_wins = 0, pairs = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = 0; j < scores.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      ++pairs;
      half_wins += scores[i] > scores[j] ? 2 : (scores[i] == scores[j] ? 1 : 0);
    }
  }
  return half_wins / 2.0 / pairs;
}

TEST(AucTest, EqualsTheDefinitionWithTies) {
  std::mt19937 random(1);
  for (const int levels : {1, 2, 5, 50, 1000000}) {
    for (const int n : {2, 3, 10, 500}) {
      std::vector<float> scores(n), labels(n);
      for (float& score : scores) score = static_cast<float>(static_cast<int>(random() % levels) - levels / 2) / 7;
      for (float& label : labels) label = random() % 4 == 0;
      labels[0] = 0;
      labels[1] = 1;
      ASSERT_EQ(Auc(scores, labels).value(), AucOfAllPairs(scores, labels)) << levels << " levels, " << n << " samples";
    }
  }
}

TEST(AucTest, ExtremeScoresAreOrdered) {
  const std::vector<float> scores = {-kInf, -1e4f, -1e-40f, 0, 1e-40f, 1e4f, kInf};
  for (size_t split = 1; split < scores.size(); ++split) {
    std::vector<float> labels(scores.size());
    std::fill(labels.begin() + split, labels.end(), 1);
    EXPECT_EQ(Auc(scores, labels).value(), 1) << "positives from " << scores[split] << " on";
  }
}

TEST(AucTest, MinusZeroTiesWithZero) { EXPECT_EQ(Auc({-0.0f, 0.0f}, {0, 1}).value(), 0.5); }

TEST(AucTest, IsUndefinedForOneClassForNothingAndForNan) {
  EXPECT_FALSE(Auc({}, {}).has_value());
  EXPECT_FALSE(Auc({1, 2}, {1, 1}).has_value());
  EXPECT_FALSE(Auc({1, 2}, {0, 0}).has_value());
  EXPECT_FALSE(Auc({1, kNan, 2}, {0, 1, 1}).has_value());
}

TEST(AucTest, DoesNotDependOnTheOrderOfTheSamples) {
  std::mt19937 random(2);
  std::vector<std::pair<float, float>> samples(3000);
  for (auto& [score, label] : samples) {
    score = static_cast<float>(random() % 100) / 100;
    label = random() % 3 == 0;
  }
  double first = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<float> scores, labels;
    for (const auto& [score, label] : samples) {
      scores.push_back(score);
      labels.push_back(label);
    }
    const double auc = Auc(scores, labels).value();
    if (round == 0) first = auc;
    EXPECT_EQ(auc, first);
    std::shuffle(samples.begin(), samples.end(), random);
  }
}

TEST(AucTest, CountsPairsBeyond32Bits) {
  const size_t n = 400000;  // 4e10 pairs.
  std::vector<float> scores(n), labels(n);
  for (size_t i = 0; i < n; ++i) {
    scores[i] = static_cast<float>(i / 2);
    labels[i] = static_cast<float>(i % 2);
  }
  // Positive k beats negatives 0 .. k-1 and ties with k.
  EXPECT_EQ(Auc(scores, labels).value(), 0.5);
  std::reverse(labels.begin(), labels.begin() + n / 2);
  std::fill(labels.begin(), labels.begin() + n / 2, 0.0f);
  std::fill(labels.begin() + n / 2, labels.end(), 1.0f);
  EXPECT_EQ(Auc(scores, labels).value(), 1);
}

TEST(LogLossTest, EqualsTheFormula) {
  const std::vector<float> p = {0.1f, 0.8f, 0.5f};
  const double expected =
      -(std::log1p(-static_cast<double>(0.1f)) + std::log(static_cast<double>(0.8f)) + std::log(0.5)) / 3;
  EXPECT_NEAR(LogLoss(p, {0, 1, 1}).value(), expected, 1e-15);
}

TEST(LogLossTest, ClampsCertaintyAlikeOnBothSides) {
  const double worst = -std::log(kLogLossClamp);
  EXPECT_NEAR(LogLoss({0}, {1}).value(), worst, 1e-12);
  EXPECT_NEAR(LogLoss({1}, {0}).value(), worst, 1e-8);
  EXPECT_NEAR(LogLoss({1}, {1}).value(), kLogLossClamp, 1e-12);
  EXPECT_NEAR(LogLoss({0}, {0}).value(), kLogLossClamp, 1e-12);
}

TEST(LogLossTest, NanShowsAndNothingIsUndefined) {
  EXPECT_TRUE(std::isnan(LogLoss({0.5f, kNan}, {1, 1}).value()));
  EXPECT_TRUE(std::isnan(LogLoss({0.5f, kNan}, {1, 0}).value()));
  EXPECT_FALSE(LogLoss({}, {}).has_value());
}

TEST(CalibrationTest, IsPredictedClicksOverSeenOnes) {
  EXPECT_NEAR(Calibration({0.5f, 0.25f, 0.75f, 0.0f}, {1, 0, 0, 0}).value(), 1.5, 1e-12);
  EXPECT_FALSE(Calibration({0.5f}, {0}).has_value());
  EXPECT_FALSE(Calibration({}, {}).has_value());
}

}  // namespace
}  // namespace rowan
