#include "worker/nn/elementwise.h"

#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowan {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> Random(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(n);
  for (float& value : values) value = uniform(random);
  return values;
}

// Sizes around every vector width.
const std::pair<int64_t, int64_t> kShapes[] = {{0, 5},  {1, 1},  {3, 3},   {2, 8},  {5, 15},
                                               {4, 16}, {3, 17}, {7, 128}, {2, 131}};

// Runs `check` at the best instruction set and at each lower one.
void ForEachTarget(const std::function<void()>& check) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    check();
    hwy::GetChosenTarget().DeInit();  // The next call chooses the best again.
  }
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

TEST(ElementwiseTest, AddBiasReluEqualsTheScalarLoop) {
  ForEachTarget([] {
    for (const auto& [m, n] : kShapes) {
      const std::vector<float> bias = Random(n, 1);
      std::vector<float> y = Random(m * n, 2);
      std::vector<float> expected = y;
      for (int64_t i = 0; i < m * n; ++i) expected[i] = std::max(expected[i] + bias[i % n], 0.0f);
      AddBiasRelu(bias.data(), m, n, y.data());
      EXPECT_TRUE(SameBits(y, expected)) << m << " x " << n;
    }
  });
}

TEST(ElementwiseTest, AddBiasReluKeepsNan) {
  ForEachTarget([] {
    const std::vector<float> bias(19, -1.0f);
    std::vector<float> y(19, kNan);
    for (size_t i = 0; i < y.size(); i += 2) y[i] = -kNan;
    AddBiasRelu(bias.data(), 1, 19, y.data());
    for (const float value : y) EXPECT_TRUE(std::isnan(value));
  });
}

TEST(ElementwiseTest, MaskByReluEqualsTheScalarLoop) {
  ForEachTarget([] {
    for (const auto& [m, n] : kShapes) {
      std::vector<float> activation = Random(m * n, 1);
      for (float& a : activation) a = std::max(a, 0.0f);
      std::vector<float> delta = Random(m * n, 2);
      std::vector<float> bias = Random(n, 3);
      std::vector<float> expected = delta;
      std::vector<float> expected_bias = bias;
      for (int64_t i = 0; i < m * n; ++i) {
        if (!(activation[i] > 0)) expected[i] = 0;
        expected_bias[i % n] += expected[i];
      }
      MaskByRelu(activation.data(), m, n, delta.data(), bias.data());
      EXPECT_TRUE(SameBits(delta, expected)) << m << " x " << n;
      EXPECT_TRUE(SameBits(bias, expected_bias)) << m << " x " << n;
    }
  });
}

TEST(ElementwiseTest, DotRowsHasOneOrderOfAdditionForEveryInstructionSet) {
  ForEachTarget([] {
    for (const auto& [m, n] : kShapes) {
      const std::vector<float> x = Random(m * n, 1);
      const std::vector<float> weights = Random(n, 2);
      std::vector<float> out(m);
      std::vector<float> expected(m);
      for (int64_t i = 0; i < m; ++i) {
        float sums[16] = {};
        for (int64_t j = 0; j < n; ++j) sums[j % 16] += x[i * n + j] * weights[j];
        for (const int width : {8, 4, 2, 1}) {
          for (int l = 0; l < width; ++l) sums[l] += sums[l + width];
        }
        expected[i] = sums[0] + 0.5f;
      }
      DotRows(x.data(), weights.data(), 0.5f, m, n, out.data());
      EXPECT_TRUE(SameBits(out, expected)) << m << " x " << n;
    }
  });
}

TEST(ElementwiseTest, AddScaledRowsEqualsTheScalarLoop) {
  ForEachTarget([] {
    for (const auto& [m, n] : kShapes) {
      const std::vector<float> x = Random(m * n, 1);
      const std::vector<float> scale = Random(m, 2);
      std::vector<float> sum = Random(n, 3);
      std::vector<float> expected = sum;
      for (int64_t i = 0; i < m * n; ++i) expected[i % n] += x[i] * scale[i / n];
      AddScaledRows(x.data(), scale.data(), m, n, sum.data());
      EXPECT_TRUE(SameBits(sum, expected)) << m << " x " << n;
    }
  });
}

TEST(ElementwiseTest, DotRowsBackEqualsTheScalarLoop) {
  ForEachTarget([] {
    for (const auto& [m, n] : kShapes) {
      const std::vector<float> scale = Random(m, 1);
      const std::vector<float> weights = Random(n, 2);
      std::vector<float> x = Random(m * n, 3);
      std::vector<float> bias = Random(n, 4);
      std::vector<float> expected = x;
      std::vector<float> expected_bias = bias;
      for (int64_t i = 0; i < m * n; ++i) {
        expected[i] = x[i] > 0 ? weights[i % n] * scale[i / n] : 0;
        expected_bias[i % n] += expected[i];
      }
      DotRowsBack(scale.data(), weights.data(), m, n, x.data(), bias.data());
      EXPECT_TRUE(SameBits(x, expected)) << m << " x " << n;
      EXPECT_TRUE(SameBits(bias, expected_bias)) << m << " x " << n;
    }
  });
}

TEST(ElementwiseTest, SumPartsAddsInTheOrderGiven) {
  ForEachTarget([] {
    for (const auto& [count, n] : kShapes) {
      if (count == 0) continue;
      std::vector<std::vector<float>> parts;
      std::vector<const float*> pointers;
      for (int64_t p = 0; p < count; ++p) parts.push_back(Random(n, p));
      for (const std::vector<float>& part : parts) pointers.push_back(part.data());
      std::vector<float> expected = parts[0];
      for (int64_t p = 1; p < count; ++p) {
        for (int64_t j = 0; j < n; ++j) expected[j] += parts[p][j];
      }
      std::vector<float> out(n);
      SumParts(pointers.data(), count, n, out.data());
      EXPECT_TRUE(SameBits(out, expected)) << count << " parts of " << n;
    }
  });
}

}  // namespace
}  // namespace rowan
