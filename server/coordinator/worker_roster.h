// WorkerRoster: the ranks of a job and how far they are. Not thread-safe.
//
// A rank is missing until a worker takes it, then training, finished or failed. One that trains and whose last word is
// older than the lease has expired: nobody can take its place yet, so that this ends the job.
#ifndef ROWAN_SERVER_COORDINATOR_WORKER_ROSTER_H_
#define ROWAN_SERVER_COORDINATOR_WORKER_ROSTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/coordinator.pb.h"

namespace rowan {

class WorkerRoster {
 public:
  // REQUIRES: 1 <= num_ranks.
  WorkerRoster(uint32_t num_ranks, absl::Duration lease) : lease_(lease), ranks_(num_ranks) {}

  // Returns the rank, the lowest free one. FailedPrecondition if none is left.
  absl::StatusOr<uint32_t> Register(const proto::RegisterClientRequest& request, absl::Time now);
  // FailedPrecondition if the worker is not the one that has the rank.
  absl::Status Heartbeat(const proto::ClientHeartbeatRequest& request, absl::Time now);

  uint32_t incarnation(uint32_t rank) const { return ranks_[rank].incarnation; }
  // Marks those whose lease has run out, and says so: "rank 1 (on HOST) was not heard from for 31s". Empty if none did.
  std::string Expire(absl::Time now);
  bool AllFinished() const;
  // Whether no worker trains that would have to hear of the job's end.
  bool AllTold() const;
  // The job is over: whoever trains is told with the next heartbeat.
  void MarkTold(uint32_t rank) { ranks_[rank].told = true; }
  // "waiting for workers: 0 of 2, missing 2 more"; empty if all came.
  std::string WaitsFor() const;

  proto::WorkerStatus Status(uint32_t rank, absl::Time now) const;
  // Every worker was heard from this much later than noted.
  void Shift(absl::Duration by);
  uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }

 private:
  enum class State { kMissing, kTraining, kFinished, kFailed, kExpired };
  struct Rank {
    State state = State::kMissing;
    std::string host;
    uint64_t process = 0;
    uint32_t incarnation = 0;
    proto::JobPosition position;
    absl::Time heard;
    bool told = false;
  };

  const absl::Duration lease_;
  std::vector<Rank> ranks_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_COORDINATOR_WORKER_ROSTER_H_
