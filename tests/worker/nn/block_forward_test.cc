// Runs once for each instruction set of oneDNN (DNNL_MAX_CPU_ISA, see BUILD.bazel).
#include "worker/nn/block_forward.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/worker/nn/reference_mlp.h"
#include "worker/nn/gemm.h"

namespace rowan {
namespace {

using ::rowan::testing::RandomFloats;
using ::rowan::testing::TowerBuffers;

class BlockForwardTest : public ::testing::TestWithParam<std::vector<int64_t>> {
 protected:
  BlockForwardTest() { UseOneThreadPerProduct(); }
};

INSTANTIATE_TEST_SUITE_P(Towers, BlockForwardTest,
                         ::testing::Values(std::vector<int64_t>{442, 256, 128, 1}, std::vector<int64_t>{29, 13, 1},
                                           std::vector<int64_t>{61, 100, 37, 10, 1}, std::vector<int64_t>{7, 1}));

TEST_P(BlockForwardTest, LogitsAreThoseOfThePlainForward) {
  const Mlp mlp("tower", GetParam());
  const TowerBuffers buffers(mlp, 1);
  BlockForward forward(&mlp);
  for (const int64_t n : {0, 1, 255, 256, 257, 600}) {
    const std::vector<float> x = RandomFloats(n * mlp.input_width(), 2);
    std::vector<float> logits(n), expected(n);
    forward.Run(buffers.param_pointers, x.data(), n, logits.data());
    MlpWorkspace workspace(&mlp);
    mlp.Forward(buffers.param_pointers, x.data(), n, &workspace, expected.data());
    for (int64_t i = 0; i < n; ++i) ASSERT_NEAR(logits[i], expected[i], 1e-5) << "sample " << i << " of " << n;
  }
}

TEST_P(BlockForwardTest, LogitDependsNeitherOnPositionNorOnNeighbours) {
  const Mlp mlp("tower", GetParam());
  const TowerBuffers buffers(mlp, 1);
  const int64_t width = mlp.input_width();
  const int64_t n = 600;
  const std::vector<float> x = RandomFloats(n * width, 2);
  BlockForward forward(&mlp);
  std::vector<float> expected(n);
  for (int64_t i = 0; i < n; ++i) forward.Run(buffers.param_pointers, &x[i * width], 1, &expected[i]);

  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(3);
  for (int round = 0; round < 10; ++round) {
    std::vector<float> shuffled(n * width), logits(n);
    for (int64_t i = 0; i < n; ++i) std::copy_n(&x[order[i] * width], width, &shuffled[i * width]);
    const int64_t used = n - round * 37;  // Another last block each round.
    forward.Run(buffers.param_pointers, shuffled.data(), used, logits.data());
    for (int64_t i = 0; i < used; ++i) {
      ASSERT_EQ(std::memcmp(&logits[i], &expected[order[i]], sizeof(float)), 0)
          << "sample " << order[i] << " at position " << i << " of " << used << ": " << logits[i] << " and "
          << expected[order[i]];
    }
    std::shuffle(order.begin(), order.end(), random);
  }
}

TEST_P(BlockForwardTest, OneSampleHasTheSameBitsInEveryRowOfABlock) {
  const Mlp mlp("tower", GetParam());
  const TowerBuffers buffers(mlp, 1);
  const int64_t width = mlp.input_width();
  const std::vector<float> sample = RandomFloats(width, 2);
  std::vector<float> x;
  for (int64_t i = 0; i < BlockForward::kRows; ++i) x.insert(x.end(), sample.begin(), sample.end());
  std::vector<float> logits(BlockForward::kRows);
  BlockForward(&mlp).Run(buffers.param_pointers, x.data(), BlockForward::kRows, logits.data());
  for (const float logit : logits) ASSERT_EQ(std::memcmp(&logit, &logits[0], sizeof(float)), 0);
}

TEST_P(BlockForwardTest, NanOfANeighbourDoesNotSpread) {
  const Mlp mlp("tower", GetParam());
  const TowerBuffers buffers(mlp, 1);
  const int64_t width = mlp.input_width();
  std::vector<float> x = RandomFloats(3 * width, 2);
  float expected[3], logits[3];
  BlockForward forward(&mlp);
  forward.Run(buffers.param_pointers, x.data(), 3, expected);
  std::fill_n(x.begin() + width, width, std::numeric_limits<float>::quiet_NaN());
  forward.Run(buffers.param_pointers, x.data(), 3, logits);
  EXPECT_EQ(logits[0], expected[0]);
  EXPECT_NE(logits[1], logits[1]);
  EXPECT_EQ(logits[2], expected[2]);
}

}  // namespace
}  // namespace rowan
