#include "worker/nn/piecewise_mlp.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "common/thread_pool.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/nn/reference_mlp.h"
#include "worker/nn/gemm.h"
#include "worker/nn/loss.h"

namespace rowan {
namespace {

using ::rowan::testing::Doubles;
using ::rowan::testing::RandomFloats;
using ::rowan::testing::ReferenceGradients;
using ::rowan::testing::TowerBuffers;
using ::testing::Each;

struct Result {
  std::vector<std::vector<float>> gradients;
  std::vector<float> dx;
  std::vector<float> dlogits;
  double loss = 0;
};

Result Train(const Mlp& mlp, int threads, int64_t n, int64_t from) {
  ThreadPool pool(threads, UseOneThreadPerProduct);
  TowerBuffers buffers(mlp, 1);
  Result result;
  result.dx = RandomFloats(n * mlp.input_width(), 2);
  result.dlogits.resize(n);
  std::vector<float> labels = RandomFloats(n, 3);
  for (float& label : labels) label = label > 1 ? 1 : 0;
  PiecewiseMlp tower(&mlp, &pool);
  for (int pass = 0; pass < 2; ++pass) {  // The second finds the workspaces used.
    const std::vector<float> x = RandomFloats(n * mlp.input_width(), 2);
    double losses[kPieces] = {};
    tower.Run(
        buffers.param_pointers, x.data(), n,
        [&](const PiecewiseMlp::Block& block, const float* logits, float* dlogits) {
          const int64_t m = block.end - block.begin;
          losses[block.piece] += SigmoidCrossEntropy(logits, labels.data() + block.begin, nullptr, m, dlogits, nullptr);
          std::copy_n(dlogits, m, result.dlogits.data() + block.begin);
        },
        from, result.dx.data(), absl::MakeSpan(buffers.gradient_pointers));
    result.loss = 0;
    for (const double loss : losses) result.loss += loss;
  }
  result.gradients = buffers.gradients;
  return result;
}

class PiecewiseMlpTest : public ::testing::Test {
 protected:
  PiecewiseMlpTest() { UseOneThreadPerProduct(); }
};

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

TEST_F(PiecewiseMlpTest, BitsDoNotDependOnTheNumberOfThreads) {
  const Mlp mlp("tower", {61, 48, 20, 1});
  for (const int64_t n : {1, 7, 8, 1003, 9001}) {  // Empty pieces, one row, several blocks a piece.
    SCOPED_TRACE(n);
    const Result one = Train(mlp, 1, n, 13);
    for (const int threads : {2, 3}) {
      SCOPED_TRACE(threads);
      const Result other = Train(mlp, threads, n, 13);
      EXPECT_EQ(other.loss, one.loss);
      EXPECT_TRUE(SameBits(other.dx, one.dx));
      EXPECT_TRUE(SameBits(other.dlogits, one.dlogits));
      for (size_t i = 0; i < one.gradients.size(); ++i) {
        EXPECT_TRUE(SameBits(other.gradients[i], one.gradients[i])) << mlp.parameters()[i].name;
      }
    }
  }
}

TEST_F(PiecewiseMlpTest, GradientsEqualTheDoublePrecisionTowerOverTheWholeBatch) {
  const Mlp mlp("tower", {19, 16, 5, 1});
  for (const int64_t n : {1, 9, 5000}) {
    SCOPED_TRACE(n);
    const Result result = Train(mlp, 2, n, 0);
    const std::vector<float> x = RandomFloats(n * 19, 2);
    const ReferenceGradients expected = TowerBuffers(mlp, 1).Reference(mlp).Backward(
        Doubles(x.begin(), x.end()), Doubles(result.dlogits.begin(), result.dlogits.end()));
    for (size_t i = 0; i < expected.parameters.size(); ++i) {
      double scale = 1;
      for (const double value : expected.parameters[i]) scale = std::max(scale, std::abs(value));
      for (size_t j = 0; j < expected.parameters[i].size(); ++j) {
        ASSERT_NEAR(result.gradients[i][j], expected.parameters[i][j], 1e-5 * scale) << mlp.parameters()[i].name;
      }
    }
    for (size_t j = 0; j < expected.dx.size(); ++j) ASSERT_NEAR(result.dx[j], expected.dx[j], 1e-5);
  }
}

TEST_F(PiecewiseMlpTest, EmptyBatchGivesZeroGradients) {
  const Mlp mlp("tower", {5, 3, 1});
  Train(mlp, 2, 100, 0);
  for (const std::vector<float>& gradient : Train(mlp, 2, 0, 0).gradients) EXPECT_THAT(gradient, Each(0.0f));
}

TEST_F(PiecewiseMlpTest, BlocksCoverEachSampleOnceAndKeepTheirOrderWithinAPiece) {
  const Mlp mlp("tower", {3, 2, 1});
  const int64_t n = 3 * kPieces * PiecewiseMlp::kBlockRows + 5;
  ThreadPool pool(3, UseOneThreadPerProduct);
  TowerBuffers buffers(mlp, 1);
  std::vector<float> x(n * 3);
  std::vector<int> filled(n), scored(n), taken(n);
  int64_t next[kPieces];
  for (int64_t p = 0; p < kPieces; ++p) next[p] = PieceBegin(p, n);
  const auto mark = [](std::vector<int>* seen, const PiecewiseMlp::Block& block) {
    for (int64_t i = block.begin; i < block.end; ++i) ++(*seen)[i];
  };
  PiecewiseMlp(&mlp, &pool)
      .Run(
          buffers.param_pointers, x.data(), n,
          [&](const PiecewiseMlp::Block& block) {
            EXPECT_EQ(block.begin, next[block.piece]);
            EXPECT_LE(block.end - block.begin, PiecewiseMlp::kBlockRows);
            next[block.piece] = block.end;
            mark(&filled, block);
          },
          [&](const PiecewiseMlp::Block& block, const float*, float* dlogits) {
            std::fill_n(dlogits, block.end - block.begin, 1.0f);
            mark(&scored, block);
          },
          0, x.data(), [&](const PiecewiseMlp::Block& block) { mark(&taken, block); },
          absl::MakeSpan(buffers.gradient_pointers));
  for (int64_t p = 0; p < kPieces; ++p) EXPECT_EQ(next[p], PieceBegin(p + 1, n));
  EXPECT_THAT(filled, Each(1));
  EXPECT_THAT(scored, Each(1));
  EXPECT_THAT(taken, Each(1));
  EXPECT_EQ(buffers.gradients.back()[0], static_cast<float>(n));
}

TEST_F(PiecewiseMlpTest, PredictGivesEachSampleItsOwnBits) {
  const Mlp mlp("tower", {19, 16, 5, 1});
  const int64_t n = 3001;
  const TowerBuffers buffers(mlp, 1);
  const std::vector<float> x = RandomFloats(n * 19, 2);
  std::vector<float> expected(n);
  BlockForward forward(&mlp);
  for (int64_t i = 0; i < n; ++i) forward.Run(buffers.param_pointers, x.data() + i * 19, 1, &expected[i]);
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads, UseOneThreadPerProduct);
    std::vector<float> logits(n);
    PiecewiseMlp(&mlp, &pool).Predict(buffers.param_pointers, x.data(), n, logits.data());
    EXPECT_TRUE(SameBits(logits, expected)) << threads << " threads";
  }
}

}  // namespace
}  // namespace rowan
