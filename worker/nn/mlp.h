// Mlp: a ReLU tower with one logit, forward and backward over one piece of a batch.
//
//   x (m, dims[0]) -> relu(x W0 + b0) -> ... -> x_last W_last + b_last = logits (m)
//
// The tower holds shapes only. Parameters live with the caller, one flat buffer each, in the order of parameters():
// weights and bias of layer 0, of layer 1, ... Weights are (in, out), row-major. Activations and the piece's gradients
// live in an MlpWorkspace, which grows to the largest piece it has seen and allocates nothing afterwards.
//
// Mlp is immutable and thread-safe; a workspace belongs to one thread at a time. The calling thread must have called
// UseOneThreadPerProduct() (worker/nn/gemm.h).
#ifndef ROWAN_WORKER_NN_MLP_H_
#define ROWAN_WORKER_NN_MLP_H_

#include <hwy/aligned_allocator.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace rowan {

// One dense parameter of a tower, as whoever stores and initializes it must know it.
struct MlpParameter {
  std::string name;  // "tower/0/weights"
  int64_t size;      // floats
  int64_t fan_in;    // inputs of the layer
  int64_t fan_out;   // outputs of the layer
  bool bias;         // starts at zero; weights start random, scaled by the fans
};

class MlpWorkspace;

class Mlp {
 public:
  // `dims` are the widths from the input to the logit, {442, 256, 128, 1} say; {442, 1} is logistic regression.
  // REQUIRES: at least two widths, all positive, the last one 1.
  Mlp(absl::string_view name, std::vector<int64_t> dims);

  int64_t input_width() const { return dims_.front(); }
  int64_t layers() const { return static_cast<int64_t>(dims_.size()) - 1; }
  const std::vector<int64_t>& dims() const { return dims_; }
  const std::vector<MlpParameter>& parameters() const { return parameters_; }

  // Writes the logits of one piece and keeps its activations in `workspace`. m may be 0.
  void Forward(absl::Span<const float* const> params,  // parameters().size() buffers
               const float* x,                         // (m, input_width())
               int64_t m, MlpWorkspace* workspace,
               float* logits) const;  // (m)

  // Writes the gradients of the piece that Forward saw last in `workspace`: sums over its samples, in
  // workspace->gradient(i), added to what is there if `accumulate`. With m == 0 they are zeros, or stay.
  // Consumes the activations: one Backward for each Forward.
  // REQUIRES: params, x and m as in that Forward; 0 <= from <= input_width().
  void Backward(absl::Span<const float* const> params,
                const float* x,        // (m, input_width())
                const float* dlogits,  // (m), d loss / d logit
                int64_t m, bool accumulate, MlpWorkspace* workspace,
                int64_t from,      // first column of dx to write; input_width() for none, and dx may be null
                float* dx) const;  // (m, input_width()), columns before `from` stay; may be x itself

 private:
  const std::vector<int64_t> dims_;
  std::vector<MlpParameter> parameters_;
};

class MlpWorkspace {
 public:
  // `mlp` must outlive the workspace.
  explicit MlpWorkspace(const Mlp* mlp);

  // Gradient of parameter `i`, (parameters()[i].size). REQUIRES: a Backward, or ZeroGradients, came before.
  const float* gradient(int64_t i) const { return gradients_.get() + offsets_[i]; }

  // As a Backward of an empty piece without `accumulate`.
  void ZeroGradients();

 private:
  friend class Mlp;
  using Floats = hwy::AlignedFreeUniquePtr<float[]>;

  void ReserveRows(int64_t rows);
  void ReserveGradients();
  float* mutable_gradient(int64_t i) { return gradients_.get() + offsets_[i]; }

  const Mlp* const mlp_;
  int64_t rows_ = 0;                 // Room in each of the next two.
  std::vector<Floats> activations_;  // Of hidden layer i, (rows, dims[i + 1]).
  std::vector<Floats> deltas_;       // d loss / d (hidden layer i before its ReLU); the last one is made in place of
                                     // its activations and has no room here.
  Floats gradients_;                 // All parameters, each from a multiple of 64 bytes on.
  std::vector<int64_t> offsets_;     // First float of each in gradients_.
  int64_t gradient_floats_ = 0;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_NN_MLP_H_
