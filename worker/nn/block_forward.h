// BlockForward: logits for prediction. A sample's bits depend on the sample alone.
//
// oneDNN picks its loops by the shape of a product, so the same row in a batch of 7 and in one of 2,048 may differ in
// the last bit. Here every product has kRows rows, the last block padded with zeros: what else is in the batch, and
// where the sample stands in it, do not show. (Training need not pay for that: there the cut of the batch is fixed.)
// Not thread-safe; one for each thread. The thread must have called UseOneThreadPerProduct().
#ifndef ROWAN_WORKER_NN_BLOCK_FORWARD_H_
#define ROWAN_WORKER_NN_BLOCK_FORWARD_H_

#include <hwy/aligned_allocator.h>

#include <cstdint>

#include "absl/types/span.h"
#include "worker/nn/mlp.h"

namespace rowan {

class BlockForward {
 public:
  static constexpr int64_t kRows = 256;

  // `mlp` must outlive this.
  explicit BlockForward(const Mlp* mlp) : mlp_(mlp), workspace_(mlp) {}

  void Run(absl::Span<const float* const> params,  // as in Mlp
           const float* x,                         // (n, input_width())
           int64_t n,
           float* logits);  // (n)

 private:
  const Mlp* mlp_;
  MlpWorkspace workspace_;
  hwy::AlignedFreeUniquePtr<float[]> padded_;  // (kRows, input_width()), from the first incomplete block on.
};

}  // namespace rowan

#endif  // ROWAN_WORKER_NN_BLOCK_FORWARD_H_
