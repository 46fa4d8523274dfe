#include "worker/nn/mlp.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/nn/elementwise.h"
#include "worker/nn/gemm.h"

namespace rowan {
namespace {

constexpr int64_t kAlignFloats = 16;

constexpr int64_t WeightsOf(int64_t layer) { return 2 * layer; }
constexpr int64_t BiasOf(int64_t layer) { return 2 * layer + 1; }

}  // namespace

Mlp::Mlp(absl::string_view name, std::vector<int64_t> dims) : dims_(std::move(dims)) {
  CHECK_GE(dims_.size(), 2u) << name;
  CHECK_GE(*std::min_element(dims_.begin(), dims_.end()), 1) << name;
  CHECK_EQ(dims_.back(), 1) << name;
  for (int64_t i = 0; i < layers(); ++i) {
    const int64_t in = dims_[i];
    const int64_t out = dims_[i + 1];
    parameters_.push_back({absl::StrCat(name, "/", i, "/weights"), in * out, in, out, /*bias=*/false});
    parameters_.push_back({absl::StrCat(name, "/", i, "/bias"), out, in, out, /*bias=*/true});
  }
}

void Mlp::Forward(absl::Span<const float* const> params, const float* x, int64_t m, MlpWorkspace* workspace,
                  float* logits) const {
  DCHECK_EQ(params.size(), parameters_.size());
  workspace->ReserveRows(m);
  const float* input = x;
  const int64_t head = layers() - 1;
  for (int64_t i = 0; i < head; ++i) {
    const int64_t in = dims_[i];
    const int64_t out = dims_[i + 1];
    float* const output = workspace->activations_[i].get();
    Gemm({input, in, false}, {params[WeightsOf(i)], out, false}, m, out, in, /*accumulate=*/false, output, out);
    AddBiasRelu(params[BiasOf(i)], m, out, output);
    input = output;
  }
  DotRows(input, params[WeightsOf(head)], *params[BiasOf(head)], m, dims_[head], logits);
}

void Mlp::Backward(absl::Span<const float* const> params, const float* x, const float* dlogits, int64_t m,
                   bool accumulate, MlpWorkspace* workspace, int64_t from, float* dx) const {
  DCHECK_EQ(params.size(), parameters_.size());
  CHECK(from >= 0 && from <= input_width()) << "column " << from << " of " << input_width();
  const int64_t head = layers() - 1;
  workspace->ReserveGradients();
  if (!accumulate) {  // What is added to below; the products of the hidden layers overwrite.
    for (int64_t i = 0; i <= head; ++i) std::fill_n(workspace->mutable_gradient(BiasOf(i)), dims_[i + 1], 0.0f);
    std::fill_n(workspace->mutable_gradient(WeightsOf(head)), dims_[head], 0.0f);
  }

  const float* const head_weights = params[WeightsOf(head)];
  const float* const head_input = head == 0 ? x : workspace->activations_[head - 1].get();
  AddScaledRows(head_input, dlogits, m, dims_[head], workspace->mutable_gradient(WeightsOf(head)));
  double sum = 0;
  for (int64_t i = 0; i < m; ++i) sum += dlogits[i];
  *workspace->mutable_gradient(BiasOf(head)) += static_cast<float>(sum);
  if (head == 0) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = from; j < dims_[0]; ++j) dx[i * dims_[0] + j] = dlogits[i] * head_weights[j];
    }
    return;
  }

  float* delta = workspace->activations_[head - 1].get();
  DotRowsBack(dlogits, head_weights, m, dims_[head], delta, workspace->mutable_gradient(BiasOf(head - 1)));
  for (int64_t i = head - 1; i > 0; --i) {
    const int64_t in = dims_[i];
    const int64_t out = dims_[i + 1];
    const float* const input = workspace->activations_[i - 1].get();
    Gemm({input, in, true}, {delta, out, false}, in, out, m, accumulate, workspace->mutable_gradient(WeightsOf(i)),
         out);
    float* const below = workspace->deltas_[i - 1].get();
    Gemm({delta, out, false}, {params[WeightsOf(i)], out, true}, m, in, out, /*accumulate=*/false, below, in);
    MaskByRelu(input, m, in, below, workspace->mutable_gradient(BiasOf(i - 1)));
    delta = below;
  }
  const int64_t in = dims_[0];
  const int64_t out = dims_[1];
  Gemm({x, in, true}, {delta, out, false}, in, out, m, accumulate, workspace->mutable_gradient(WeightsOf(0)), out);
  if (from == in) return;
  Gemm({delta, out, false}, {params[WeightsOf(0)] + from * out, out, true}, m, in - from, out, /*accumulate=*/false,
       dx + from, in);
}

MlpWorkspace::MlpWorkspace(const Mlp* mlp)
    : mlp_(mlp), activations_(mlp->layers() - 1), deltas_(std::max<int64_t>(mlp->layers() - 2, 0)) {}

void MlpWorkspace::ReserveRows(int64_t rows) {
  if (rows <= rows_) return;
  rows_ = rows;
  for (size_t i = 0; i < activations_.size(); ++i) {
    const int64_t floats = rows * mlp_->dims()[i + 1];
    activations_[i] = hwy::AllocateAligned<float>(floats);
    if (i < deltas_.size()) deltas_[i] = hwy::AllocateAligned<float>(floats);
  }
}

void MlpWorkspace::ReserveGradients() {
  if (gradients_ != nullptr) return;
  for (const MlpParameter& parameter : mlp_->parameters()) {
    offsets_.push_back(gradient_floats_);
    gradient_floats_ += (parameter.size + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
  }
  gradients_ = hwy::AllocateAligned<float>(gradient_floats_);
  std::fill_n(gradients_.get(), gradient_floats_, 0.0f);
}

void MlpWorkspace::ZeroGradients() {
  ReserveGradients();
  std::fill_n(gradients_.get(), gradient_floats_, 0.0f);
}

}  // namespace rowan
