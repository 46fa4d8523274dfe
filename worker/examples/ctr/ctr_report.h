// What `train` says, in one process or as a worker of a cluster: its options, its progress, its results.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CTR_REPORT_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CTR_REPORT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/interrupt.h"
#include "worker/client.h"
#include "worker/examples/ctr/ctr_dataset.h"
#include "worker/examples/ctr/ctr_trainer.h"
#include "worker/train/profile.h"

namespace rowan {

CtrTrainOptions TrainOptionsOfFlags();

// "step 40/293  141000 samples/s  loss 0.4612  AUC so far 0.7012  2 s left", for all `workers` by what one has done.
std::string ProgressText(const CtrProgress& progress, int64_t workers, absl::Duration elapsed);

// Samples and rate to stdout, and the profile with --profile.
void PrintTrained(int64_t samples, int64_t bad_rows, absl::Duration wall, const Profile& profile);

struct ModelState {
  int64_t rows = 0;
  std::string digest;
};

// Evaluates on `test` through a client made from `reading` (a tool), prints AUC, log loss, rows and digest, and writes
// --summary_json. `state` is asked after the evaluation.
absl::Status TestAndReport(const CtrTrainOptions& options, const CtrDataset& test, Client::Options reading,
                           const Interrupt& interrupt, int64_t samples, absl::Duration wall,
                           const std::function<absl::StatusOr<ModelState>()>& state);

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CTR_REPORT_H_
