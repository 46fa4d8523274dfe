#include "worker/nn/block_forward.h"

#include <algorithm>

namespace rowan {

void BlockForward::Run(absl::Span<const float* const> params, const float* x, int64_t n, float* logits) {
  const int64_t width = mlp_->input_width();
  for (; n >= kRows; n -= kRows, x += kRows * width, logits += kRows) {
    mlp_->Forward(params, x, kRows, &workspace_, logits);
  }
  if (n == 0) return;
  if (padded_ == nullptr) padded_ = hwy::AllocateAligned<float>(kRows * width);
  std::copy_n(x, n * width, padded_.get());
  std::fill_n(padded_.get() + n * width, (kRows - n) * width, 0.0f);
  float padded_logits[kRows];
  mlp_->Forward(params, padded_.get(), kRows, &workspace_, padded_logits);
  std::copy_n(padded_logits, n, logits);
}

}  // namespace rowan
