// BareNumbers: the numbers of a tool's pushes, handed out so that no server forgets a number before it comes (P8).
// Thread-safe.
#ifndef ROWAN_WORKER_CLIENT_BARE_NUMBERS_H_
#define ROWAN_WORKER_CLIENT_BARE_NUMBERS_H_

#include <cstdint>
#include <set>

#include "absl/time/time.h"
#include "common/mutex.h"

namespace rowan {

class BareNumbers {
 public:
  // Servers remember this many pushes of a rank below its newest.
  static constexpr uint64_t kMaxInFlight = 64;

  // The next number, from 0 on. Waits until it lies within the servers' windows.
  uint64_t Take() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (!in_flight_.empty() && next_ - *in_flight_.begin() > kMaxInFlight) {
      changed_.WaitWithTimeout(&mu_, absl::Seconds(10));
    }
    in_flight_.insert(next_);
    return next_++;
  }
  // The push of this number was answered by all servers.
  void GiveBack(uint64_t number) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    in_flight_.erase(number);
    changed_.SignalAll();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  uint64_t next_ ABSL_GUARDED_BY(mu_) = 0;
  std::set<uint64_t> in_flight_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_BARE_NUMBERS_H_
