// Clock: where all time comes from, so that a test can hold it in its hand.
#ifndef ROWAN_COMMON_CLOCK_H_
#define ROWAN_COMMON_CLOCK_H_

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/mutex.h"

namespace rowan {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() = 0;

  // The machine's clock. Lives for ever.
  static Clock* Real();
};

// Stands still until told. Thread-safe.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(absl::Time start = absl::UnixEpoch()) : now_(start) {}
  absl::Time Now() override {
    MutexLock lock(&mu_);
    return now_;
  }
  void Advance(absl::Duration by) {
    MutexLock lock(&mu_);
    now_ += by;
  }

 private:
  Mutex mu_;
  absl::Time now_ ABSL_GUARDED_BY(mu_);
};

inline Clock* Clock::Real() {
  class RealClock final : public Clock {
    absl::Time Now() override { return absl::Now(); }
  };
  static RealClock* const clock = new RealClock;
  return clock;
}

}  // namespace rowan

#endif  // ROWAN_COMMON_CLOCK_H_
