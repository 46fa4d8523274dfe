#include "worker/nn/progressive_auc.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "worker/nn/metrics.h"

namespace rowan {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Samples {
  std::vector<float> logits;
  std::vector<float> labels;
};

Samples Clicks(int64_t n, float base, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform;
  Samples samples;
  for (int64_t i = 0; i < n; ++i) {
    samples.logits.push_back(base + normal(random));
    samples.labels.push_back(uniform(random) < 1 / (1 + std::exp(-samples.logits.back())));
  }
  return samples;
}

TEST(ProgressiveAucTest, IsCloseToTheExactOneAtAnyBaseRate) {
  for (const float base : {-6.0f, -1.4f, 3.0f}) {
    const Samples samples = Clicks(50000, base, 1);
    ProgressiveAuc auc;
    auc.Add(samples.logits, samples.labels);
    EXPECT_NEAR(auc.Value().value(), Auc(samples.logits, samples.labels).value(), 2e-4) << base;
  }
}

TEST(ProgressiveAucTest, PartsMergedInAnyOrderEqualTheWhole) {
  const Samples a = Clicks(1000, -1, 1);
  const Samples b = Clicks(2000, 1, 2);
  ProgressiveAuc whole, left, right;
  whole.Add(a.logits, a.labels);
  whole.Add(b.logits, b.labels);
  left.Add(a.logits, a.labels);
  right.Add(b.logits, b.labels);
  right.Merge(left);
  EXPECT_EQ(right.Value().value(), whole.Value().value());
}

TEST(ProgressiveAucTest, LogitsBeyondTheHistogramCountAtItsEnds) {
  ProgressiveAuc auc;
  auc.Add({-kInf, -1e4f, -16, 16, 1e4f, kInf}, {0, 0, 0, 1, 1, 1});
  EXPECT_EQ(auc.Value().value(), 1);
  auc.Reset();
  auc.Add({16, 1e4f}, {0, 1});
  EXPECT_EQ(auc.Value().value(), 0.5);
}

TEST(ProgressiveAucTest, IsUndefinedUntilBothClassesWereSeen) {
  ProgressiveAuc auc;
  EXPECT_FALSE(auc.Value().has_value());
  auc.Add({0.5f}, {1});
  EXPECT_FALSE(auc.Value().has_value());
  auc.Add({std::numeric_limits<float>::quiet_NaN()}, {0});
  EXPECT_FALSE(auc.Value().has_value());
  auc.Add({0.25f}, {0});
  EXPECT_EQ(auc.Value().value(), 1);
  auc.Reset();
  EXPECT_FALSE(auc.Value().has_value());
}

}  // namespace
}  // namespace rowan
