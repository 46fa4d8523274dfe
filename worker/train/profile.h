// Profile: where the time of a training run went, by phase. Not thread-safe: one for each rank, merged at the end.
#ifndef ROWAN_WORKER_TRAIN_PROFILE_H_
#define ROWAN_WORKER_TRAIN_PROFILE_H_

#include <array>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace rowan {

// Real time, for measuring only: nothing that a run computes depends on it.
class Stopwatch {
 public:
  // Time since the last call, or since it was made.
  absl::Duration Lap() {
    const int64_t now = absl::GetCurrentTimeNanos();
    const absl::Duration lap = absl::Nanoseconds(now - start_);
    start_ = now;
    return lap;
  }

 private:
  int64_t start_ = absl::GetCurrentTimeNanos();
};

class Profile {
 public:
  enum Phase { kRead, kDeduplicate, kWaitForData, kPull, kForward, kBackward, kPush, kPhases };

  void Add(Phase phase, absl::Duration time) { times_[phase] += time; }
  void Merge(const Profile& other) {
    for (int p = 0; p < kPhases; ++p) times_[p] += other.times_[p];
  }
  absl::Duration time(Phase phase) const { return times_[phase]; }

  // A table, one line a phase: seconds, share of `wall`, microseconds a sample. Read and deduplicate run beside the
  // other phases when there is a pipeline.
  std::string Table(absl::Duration wall, int64_t samples) const;

 private:
  std::array<absl::Duration, kPhases> times_{};
};

}  // namespace rowan

#endif  // ROWAN_WORKER_TRAIN_PROFILE_H_
