#include "worker/nn/mlp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/nn/reference_mlp.h"
#include "worker/nn/gemm.h"

namespace rowan {
namespace {

using ::rowan::testing::Doubles;
using ::rowan::testing::RandomFloats;
using ::rowan::testing::ReferenceGradients;
using ::rowan::testing::ReferenceMlp;
using ::rowan::testing::TowerBuffers;
using ::testing::Each;

class MlpTest : public ::testing::TestWithParam<std::vector<int64_t>> {
 protected:
  MlpTest() { UseOneThreadPerProduct(); }
};

INSTANTIATE_TEST_SUITE_P(Towers, MlpTest,
                         ::testing::Values(std::vector<int64_t>{7, 1}, std::vector<int64_t>{5, 3, 1},
                                           std::vector<int64_t>{20, 17, 9, 1}, std::vector<int64_t>{33, 32, 19, 16, 1},
                                           std::vector<int64_t>{1, 1, 1}));

// Sums of float products are off by about 1e-7 of the sum of their magnitudes.
void ExpectClose(const float* actual, const Doubles& expected, double tolerance) {
  double scale = 1;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], tolerance * scale) << "element " << i;
}

TEST_P(MlpTest, ForwardAndBackwardEqualTheDoublePrecisionTower) {
  const Mlp mlp("tower", GetParam());
  const TowerBuffers buffers(mlp, 1);
  const ReferenceMlp reference = buffers.Reference(mlp);
  MlpWorkspace workspace(&mlp);
  for (const int64_t m : {1, 2, 40, 3}) {
    SCOPED_TRACE(m);
    const std::vector<float> x = RandomFloats(m * mlp.input_width(), 2);
    const std::vector<float> dlogits = RandomFloats(m, 3);
    const Doubles x_double(x.begin(), x.end());

    std::vector<float> logits(m);
    mlp.Forward(buffers.param_pointers, x.data(), m, &workspace, logits.data());
    Doubles expected_logits;
    for (int64_t s = 0; s < m; ++s) expected_logits.push_back(reference.Logit(&x_double[s * mlp.input_width()]));
    ExpectClose(logits.data(), expected_logits, 2e-6);

    std::vector<float> dx(x.size());
    mlp.Backward(buffers.param_pointers, x.data(), dlogits.data(), m, false, &workspace, 0, dx.data());
    const ReferenceGradients expected = reference.Backward(x_double, Doubles(dlogits.begin(), dlogits.end()));
    for (size_t i = 0; i < mlp.parameters().size(); ++i) {
      SCOPED_TRACE(mlp.parameters()[i].name);
      ExpectClose(workspace.gradient(i), expected.parameters[i], 4e-6);
    }
    ExpectClose(dx.data(), expected.dx, 4e-6);
  }
}

TEST_P(MlpTest, ReferenceGradientsAgreeWithFiniteDifferences) {
  const Mlp mlp("tower", GetParam());
  ReferenceMlp reference = TowerBuffers(mlp, 4).Reference(mlp);
  const std::vector<float> x_float = RandomFloats(3 * mlp.input_width(), 5);
  Doubles x(x_float.begin(), x_float.end());
  const Doubles dlogits = {0.7, -1.3, 0.2};
  const auto loss = [&] {
    double sum = 0;
    for (size_t s = 0; s < dlogits.size(); ++s) sum += dlogits[s] * reference.Logit(&x[s * mlp.input_width()]);
    return sum;
  };
  const ReferenceGradients gradients = reference.Backward(x, dlogits);
  const auto check = [&](double* value, double expected) {
    constexpr double kStep = 1e-7;  // Small enough that no ReLU of these inputs switches.
    const double old = *value;
    *value = old + kStep;
    const double above = loss();
    *value = old - kStep;
    const double below = loss();
    *value = old;
    ASSERT_NEAR((above - below) / (2 * kStep), expected, 1e-6 * (1 + std::abs(expected)));
  };
  for (size_t i = 0; i < gradients.parameters.size(); ++i) {
    SCOPED_TRACE(mlp.parameters()[i].name);
    for (size_t j = 0; j < gradients.parameters[i].size(); ++j) {
      check(&reference.params()[i][j], gradients.parameters[i][j]);
    }
  }
  for (size_t j = 0; j < x.size(); ++j) check(&x[j], gradients.dx[j]);
}

TEST_P(MlpTest, AccumulatingTwoBlocksEqualsTheSumOfBoth) {
  const Mlp mlp("tower", GetParam());
  const TowerBuffers buffers(mlp, 1);
  const int64_t width = mlp.input_width();
  const std::vector<float> x = RandomFloats(9 * width, 2);
  const std::vector<float> dlogits = RandomFloats(9, 3);
  MlpWorkspace workspace(&mlp);
  float logits[5];
  mlp.Forward(buffers.param_pointers, x.data(), 4, &workspace, logits);
  mlp.Backward(buffers.param_pointers, x.data(), dlogits.data(), 4, false, &workspace, width, nullptr);
  mlp.Forward(buffers.param_pointers, x.data() + 4 * width, 5, &workspace, logits);
  mlp.Backward(buffers.param_pointers, x.data() + 4 * width, dlogits.data() + 4, 5, true, &workspace, width, nullptr);
  const ReferenceGradients expected =
      buffers.Reference(mlp).Backward(Doubles(x.begin(), x.end()), Doubles(dlogits.begin(), dlogits.end()));
  for (size_t i = 0; i < mlp.parameters().size(); ++i) {
    SCOPED_TRACE(mlp.parameters()[i].name);
    ExpectClose(workspace.gradient(i), expected.parameters[i], 4e-6);
  }
}

TEST_P(MlpTest, EmptyPieceGivesZeroGradientsOrLeavesThem) {
  const Mlp mlp("tower", GetParam());
  const TowerBuffers buffers(mlp, 1);
  const int64_t width = mlp.input_width();
  const std::vector<float> x = RandomFloats(2 * width, 2);
  const std::vector<float> dlogits = {1, -2};
  float logits[2];
  MlpWorkspace workspace(&mlp);
  mlp.Forward(buffers.param_pointers, nullptr, 0, &workspace, nullptr);  // The first piece of all may be empty.
  mlp.Backward(buffers.param_pointers, nullptr, nullptr, 0, false, &workspace, 0, nullptr);
  const auto gradients = [&] {
    std::vector<std::vector<float>> all;
    for (size_t i = 0; i < mlp.parameters().size(); ++i) {
      all.emplace_back(workspace.gradient(i), workspace.gradient(i) + mlp.parameters()[i].size);
    }
    return all;
  };
  mlp.Forward(buffers.param_pointers, x.data(), 2, &workspace, logits);
  mlp.Backward(buffers.param_pointers, x.data(), dlogits.data(), 2, false, &workspace, width, nullptr);
  const auto before = gradients();
  mlp.Forward(buffers.param_pointers, nullptr, 0, &workspace, nullptr);
  mlp.Backward(buffers.param_pointers, nullptr, nullptr, 0, true, &workspace, 0, nullptr);
  EXPECT_EQ(gradients(), before);
  mlp.Backward(buffers.param_pointers, nullptr, nullptr, 0, false, &workspace, 0, nullptr);
  for (const std::vector<float>& gradient : gradients()) EXPECT_THAT(gradient, Each(0.0f));
  workspace.ZeroGradients();
  for (const std::vector<float>& gradient : gradients()) EXPECT_THAT(gradient, Each(0.0f));
}

TEST_P(MlpTest, InputGradientFromAColumnLeavesTheColumnsBeforeAndMayOverwriteTheInput) {
  const Mlp mlp("tower", GetParam());
  const TowerBuffers buffers(mlp, 1);
  const int64_t m = 6;
  const int64_t width = mlp.input_width();
  const std::vector<float> x = RandomFloats(m * width, 2);
  const std::vector<float> dlogits = RandomFloats(m, 3);
  const ReferenceGradients expected =
      buffers.Reference(mlp).Backward(Doubles(x.begin(), x.end()), Doubles(dlogits.begin(), dlogits.end()));
  for (const int64_t from : {int64_t{0}, width / 2, width}) {
    SCOPED_TRACE(from);
    MlpWorkspace workspace(&mlp);
    std::vector<float> logits(m);
    std::vector<float> in_place = x;
    mlp.Forward(buffers.param_pointers, in_place.data(), m, &workspace, logits.data());
    mlp.Backward(buffers.param_pointers, in_place.data(), dlogits.data(), m, false, &workspace, from, in_place.data());
    ExpectClose(workspace.gradient(0), expected.parameters[0], 4e-6);
    for (int64_t i = 0; i < m * width; ++i) {
      if (i % width < from) {
        ASSERT_EQ(in_place[i], x[i]);
      } else {
        ASSERT_NEAR(in_place[i], expected.dx[i], 1e-4);
      }
    }
  }
}

TEST(MlpParametersTest, AreNamedAndSizedByLayer) {
  const Mlp mlp("tower", {442, 256, 128, 1});
  ASSERT_EQ(mlp.parameters().size(), 6u);
  EXPECT_EQ(mlp.parameters()[0].name, "tower/0/weights");
  EXPECT_EQ(mlp.parameters()[0].size, 442 * 256);
  EXPECT_EQ(mlp.parameters()[0].fan_in, 442);
  EXPECT_EQ(mlp.parameters()[0].fan_out, 256);
  EXPECT_FALSE(mlp.parameters()[0].bias);
  EXPECT_EQ(mlp.parameters()[3].name, "tower/1/bias");
  EXPECT_EQ(mlp.parameters()[3].size, 128);
  EXPECT_TRUE(mlp.parameters()[3].bias);
  EXPECT_EQ(mlp.parameters()[5].size, 1);
}

TEST(MlpNanTest, ShowsInTheLogitOfItsSampleAlone) {
  UseOneThreadPerProduct();
  const Mlp mlp("tower", {20, 17, 9, 1});
  const TowerBuffers buffers(mlp, 1);
  std::vector<float> x = RandomFloats(3 * 20, 2);
  x[25] = std::numeric_limits<float>::quiet_NaN();
  MlpWorkspace workspace(&mlp);
  float logits[3];
  mlp.Forward(buffers.param_pointers, x.data(), 3, &workspace, logits);
  EXPECT_TRUE(std::isfinite(logits[0]));
  EXPECT_TRUE(std::isnan(logits[1]));
  EXPECT_TRUE(std::isfinite(logits[2]));
}

TEST(MlpDeathTest, RefusesATowerThatDoesNotEndInOneLogit) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(Mlp("tower", {4, 2}), "tower");
  EXPECT_DEATH(Mlp("tower", {1}), "tower");
  EXPECT_DEATH(Mlp("tower", {4, 0, 1}), "tower");
}

}  // namespace
}  // namespace rowan
