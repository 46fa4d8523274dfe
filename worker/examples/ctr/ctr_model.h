// CtrModel: the example's network. logit = tower(numbers, embeddings) + the sum of the first-order weights.
//
// A row of its one table is (weight, embedding): slice 0 of width 1 and slice 1 of width E. The tower's input is a
// sample's 26 numbers, then the 26 embeddings: 26 + 26 E floats. Results are the same bits for any number of threads:
// the dense gradients are summed in fixed pieces (worker/nn/pieces.h), a row's gradient in sample order.
// Not thread-safe; the calling thread must have called UseOneThreadPerProduct().
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CTR_MODEL_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CTR_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "common/thread_pool.h"
#include "hwy/aligned_allocator.h"
#include "proto/table.pb.h"
#include "worker/client.h"
#include "worker/examples/ctr/ctr_batch.h"
#include "worker/examples/ctr/ctr_model.pb.h"
#include "worker/nn/piecewise_mlp.h"

namespace rowan {

// The spec that `train` uses, and the check of one that a snapshot brings: InvalidArgument names what does not fit.
proto::CtrModelSpec DefaultCtrModelSpec();
absl::Status CheckCtrModelSpec(const proto::CtrModelSpec& spec);

// Rates of the optimizers: Adagrad for rows, Adam for the tower.
struct CtrRates {
  float rows = 0.05f;
  float dense = 0.001f;
};

class CtrModel {
 public:
  // `pool` was made with UseOneThreadPerProduct and outlives the model. REQUIRES: CheckCtrModelSpec(spec) is OK.
  CtrModel(const proto::CtrModelSpec& spec, ThreadPool* pool);

  // Opens the table and the dense parameters of the model in the client's job.
  absl::Status Open(const CtrRates& rates, Client* client);

  // Rows of (1 + embedding width) floats.
  int64_t row_width() const { return 1 + embedding_width_; }

  // What a step and a lookup ask for. The results land in this object.
  std::vector<RowsPull> RowsOf(const CtrBatch& batch);
  std::vector<DenseWhole> DenseParameters();

  struct Result {
    double loss = 0;              // sum over the samples, nats
    absl::Duration forward_time;  // summed over threads
    absl::Duration backward_time;
    absl::optional<int64_t> non_finite;  // the first sample whose loss is NaN or infinite
  };
  // Forward and backward over the rows and parameters pulled last. logits(): (n) afterwards.
  Result Train(const CtrBatch& batch);
  absl::Span<const float> logits() const { return absl::MakeConstSpan(logits_); }

  // What Train computed, ready for Step::Push.
  std::vector<RowsPush> RowGradients(const CtrBatch& batch) const;
  std::vector<DensePush> DenseGradients() const;

  // Click probabilities, (n), from the rows and parameters pulled last. A sample's bits do not depend on the others.
  void Predict(const CtrBatch& batch, std::vector<float>* probabilities);

 private:
  void FillInputs(const CtrBatch& batch, int64_t begin, int64_t end);
  void SumRowGradients(const CtrBatch& batch);
  void Reserve(int64_t samples);

  const int64_t embedding_width_;
  const std::string table_name_;
  const Mlp tower_;
  ThreadPool* const pool_;
  PiecewiseMlp pieces_;
  Table table_;
  std::vector<Dense> dense_;
  std::vector<std::vector<float>> parameters_;  // as tower_.parameters()
  std::vector<std::vector<float>> gradients_;
  std::vector<float> rows_;           // (m, row_width())
  std::vector<float> row_gradients_;  // (m, row_width())
  int64_t capacity_ = 0;                         // samples that inputs_ has room for
  hwy::AlignedFreeUniquePtr<float[]> inputs_;    // (n, tower input); their gradients after Train
  std::vector<float> first_order_;    // (n)
  std::vector<float> logits_;         // (n)
  std::vector<float> dlogits_;        // (n)
};

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CTR_MODEL_H_
