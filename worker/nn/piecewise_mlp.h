// PiecewiseMlp: forward, loss and backward of a whole batch on a thread pool, with the same bits for any pool.
//
// The batch is cut by pieces.h; a piece is one task, computed in blocks of at most kBlockRows rows so that its
// activations stay in a core's cache; parameter gradients are summed within a piece in block order and over the pieces
// in piece order. One batch at a time: not thread-safe. The caller's thread, which works too, must have called
// UseOneThreadPerProduct(), and the pool must have been made with it as `on_start`.
#ifndef ROWAN_WORKER_NN_PIECEWISE_MLP_H_
#define ROWAN_WORKER_NN_PIECEWISE_MLP_H_

#include <hwy/aligned_allocator.h>

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/thread_pool.h"
#include "worker/nn/block_forward.h"
#include "worker/nn/mlp.h"
#include "worker/nn/pieces.h"

namespace rowan {

class PiecewiseMlp {
 public:
  static constexpr int64_t kBlockRows = 512;  // A different value gives different bits.

  // Samples [begin, end) of the batch, part of piece `piece`. Blocks of one piece come in order and in one thread.
  struct Block {
    int64_t piece;
    int64_t begin;
    int64_t end;
  };
  // Reads the block's tower logits and writes d loss / d logit, both (end - begin). Called in any pool thread: sums
  // belong in one place for each piece, to be added in piece order.
  using Head = absl::FunctionRef<void(const Block& block, const float* logits, float* dlogits)>;
  // Makes rows [begin, end) of x before, or takes those of dx after, the block's products: the rows are in cache then.
  using Rows = absl::FunctionRef<void(const Block& block)>;

  // `mlp` and `pool` must outlive this.
  PiecewiseMlp(const Mlp* mlp, ThreadPool* pool);

  // One training pass over `n` samples; n may be 0, which gives zero gradients.
  void Run(absl::Span<const float* const> params,  // as in Mlp
           const float* x,                         // (n, input_width()), complete
           int64_t n, Head head,
           int64_t from,                          // first column of dx to write; input_width() for none
           float* dx,                             // (n, input_width()), may be x itself; null for none
           absl::Span<float* const> gradients) {  // as params: sums over the samples, overwritten
    Run(
        params, x, n, [](const Block&) {}, head, from, dx, [](const Block&) {}, gradients);
  }

  // The same with `before` filling x block by block, and `after` reading dx.
  void Run(absl::Span<const float* const> params, const float* x, int64_t n, Rows before, Head head, int64_t from,
           float* dx, Rows after, absl::Span<float* const> gradients);

  // Logits of `n` samples as BlockForward gives them: those of a sample do not depend on the others.
  void Predict(absl::Span<const float* const> params,
               const float* x,  // (n, input_width())
               int64_t n,
               float* logits);  // (n)

 private:
  struct Range {  // Of one parameter: a task of the summation.
    int64_t parameter;
    int64_t begin;
    int64_t end;
  };
  struct Piece {
    explicit Piece(const Mlp* mlp) : workspace(mlp), forward(mlp) {}
    MlpWorkspace workspace;
    hwy::AlignedFreeUniquePtr<float[]> logits;  // (2, kBlockRows): logits and their gradients.
    BlockForward forward;
  };

  const Mlp* const mlp_;
  ThreadPool* const pool_;
  std::vector<Piece> pieces_;  // kPieces of them.
  std::vector<Range> ranges_;  // Cover every parameter.
};

}  // namespace rowan

#endif  // ROWAN_WORKER_NN_PIECEWISE_MLP_H_
