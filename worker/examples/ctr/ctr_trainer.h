// CtrTrainer: one rank's training run of the example.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CTR_TRAINER_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CTR_TRAINER_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "common/thread_pool.h"
#include "worker/client.h"
#include "worker/examples/ctr/ctr_dataset.h"
#include "worker/examples/ctr/ctr_model.h"
#include "worker/nn/progressive_auc.h"
#include "worker/train/profile.h"

namespace rowan {

struct CtrTrainOptions {
  proto::CtrModelSpec model;
  CtrRates rates;
  int64_t batch_size = 2048;  // of all ranks together
  int64_t epochs = 1;
  int64_t shuffle_window = 0;  // rows, worker/data/order.h
  uint64_t seed = 1;
  double max_bad_share = 0.01;
  bool pipeline = true;
};

// What a rank has done so far. Its own samples only.
struct CtrProgress {
  int64_t step = 0;         // steps done
  int64_t total_steps = 0;
  int64_t samples = 0;
  double loss = 0;                     // sum over the last steps' samples, nats
  int64_t loss_samples = 0;            // ... of so many samples; the caller may set both to 0
  ProgressiveAuc auc;                  // of all samples so far, scored before their own update
};

struct CtrTrainResult {
  int64_t samples = 0;
  int64_t steps = 0;
  int64_t bad_rows = 0;  // in the last epoch
  Profile profile;
};

// Trains to the end. `pool` was made with UseOneThreadPerProduct; so is the calling thread by this. `after_step` may
// end the run with an error. A loss that is NaN or infinite ends it: Internal, naming step, rank and input line.
absl::StatusOr<CtrTrainResult> TrainCtr(const CtrTrainOptions& options, const CtrDataset& dataset, ThreadPool* pool,
                                        Client* client,
                                        const std::function<absl::Status(CtrProgress*)>& after_step);

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CTR_TRAINER_H_
