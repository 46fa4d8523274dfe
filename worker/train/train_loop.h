// TrainLoop: one rank's steps over its epochs, reading ahead in a thread of its own.
//
// With the pipeline, the next batches are read and prepared while a step computes; nothing else overlaps, so the result
// is the same with and without it. Runs in the calling thread.
#ifndef ROWAN_WORKER_TRAIN_TRAIN_LOOP_H_
#define ROWAN_WORKER_TRAIN_TRAIN_LOOP_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/status_macros.h"
#include "worker/client.h"
#include "worker/data/prefetcher.h"
#include "worker/train/profile.h"

namespace rowan {

struct TrainLoopOptions {
  int64_t epochs = 1;
  int64_t steps_per_epoch = 0;  // the same on every rank
  bool pipeline = true;
};

// Batch: default-constructible, cheap to swap.
template <typename Batch>
struct TrainCallbacks {
  // Fills the batch of one step: this rank's part, which may be empty.
  std::function<absl::Status(int64_t epoch, int64_t step, Batch* batch)> prepare;
  // Pulls, computes and pushes.
  std::function<absl::Status(Step* step, int64_t epoch, const Batch& batch, Profile* profile)> train;
  // After each step. An error ends the run.
  std::function<absl::Status()> after_step;
};

// Runs all epochs and finishes the client. The error that ended it, if one did.
template <typename Batch>
absl::Status RunTrainLoop(const TrainLoopOptions& options, const TrainCallbacks<Batch>& callbacks, Client* client,
                          Profile* profile) {
  int64_t next = 0;  // counts steps over all epochs; used by one thread, the producer's
  const auto produce = [&](Batch* batch) -> absl::StatusOr<bool> {
    if (next == options.epochs * options.steps_per_epoch) return false;
    ROWAN_RETURN_IF_ERROR(callbacks.prepare(next / options.steps_per_epoch, next % options.steps_per_epoch, batch));
    ++next;
    return true;
  };
  std::unique_ptr<Prefetcher<Batch>> prefetcher;
  if (options.pipeline) prefetcher = std::make_unique<Prefetcher<Batch>>(produce);
  Batch batch;
  for (int64_t done = 0;; ++done) {
    Stopwatch watch;
    ROWAN_ASSIGN_OR_RETURN(const bool more, options.pipeline ? prefetcher->Get(&batch) : produce(&batch));
    if (options.pipeline) profile->Add(Profile::kWaitForData, watch.Lap());
    if (!more) break;
    ROWAN_ASSIGN_OR_RETURN(Step step, client->BeginStep());
    ROWAN_RETURN_IF_ERROR(callbacks.train(&step, done / options.steps_per_epoch, batch, profile));
    ROWAN_RETURN_IF_ERROR(callbacks.after_step());
  }
  return client->Finish();
}

}  // namespace rowan

#endif  // ROWAN_WORKER_TRAIN_TRAIN_LOOP_H_
