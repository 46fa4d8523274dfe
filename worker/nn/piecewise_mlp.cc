#include "worker/nn/piecewise_mlp.h"

#include <glog/logging.h>

#include <algorithm>

#include "worker/nn/elementwise.h"

namespace rowan {
namespace {

constexpr int64_t kRangeFloats = 8192;

}  // namespace

PiecewiseMlp::PiecewiseMlp(const Mlp* mlp, ThreadPool* pool) : mlp_(mlp), pool_(pool) {
  pieces_.reserve(kPieces);
  for (int64_t p = 0; p < kPieces; ++p) {
    pieces_.emplace_back(mlp);
    pieces_.back().logits = hwy::AllocateAligned<float>(2 * kBlockRows);
  }
  for (int64_t i = 0; i < static_cast<int64_t>(mlp->parameters().size()); ++i) {
    const int64_t size = mlp->parameters()[i].size;
    for (int64_t j = 0; j < size; j += kRangeFloats) ranges_.push_back({i, j, std::min(size, j + kRangeFloats)});
  }
}

void PiecewiseMlp::Run(absl::Span<const float* const> params, const float* x, int64_t n, Rows before, Head head,
                       int64_t from, float* dx, Rows after, absl::Span<float* const> gradients) {
  CHECK_EQ(gradients.size(), mlp_->parameters().size());
  const int64_t width = mlp_->input_width();
  pool_->ParallelFor(kPieces, [&](int64_t p) {
    Piece& piece = pieces_[p];
    const int64_t end = PieceBegin(p + 1, n);
    int64_t begin = PieceBegin(p, n);
    if (begin == end) piece.workspace.ZeroGradients();
    for (bool accumulate = false; begin < end; accumulate = true) {
      const Block block = {p, begin, std::min(end, begin + kBlockRows)};
      const int64_t m = block.end - block.begin;
      float* const logits = piece.logits.get();
      float* const dlogits = logits + kBlockRows;
      const float* const block_x = x + begin * width;
      before(block);
      mlp_->Forward(params, block_x, m, &piece.workspace, logits);
      head(block, logits, dlogits);
      mlp_->Backward(params, block_x, dlogits, m, accumulate, &piece.workspace, from,
                     dx == nullptr ? nullptr : dx + begin * width);
      after(block);
      begin = block.end;
    }
  });
  pool_->ParallelFor(static_cast<int64_t>(ranges_.size()), [&](int64_t r) {
    const Range& range = ranges_[r];
    const float* parts[kPieces];
    for (int64_t p = 0; p < kPieces; ++p) parts[p] = pieces_[p].workspace.gradient(range.parameter) + range.begin;
    SumParts(parts, kPieces, range.end - range.begin, gradients[range.parameter] + range.begin);
  });
}

void PiecewiseMlp::Predict(absl::Span<const float* const> params, const float* x, int64_t n, float* logits) {
  pool_->ParallelFor(kPieces, [&](int64_t p) {
    const int64_t begin = PieceBegin(p, n);
    pieces_[p].forward.Run(params, x + begin * mlp_->input_width(), PieceBegin(p + 1, n) - begin, logits + begin);
  });
}

}  // namespace rowan
