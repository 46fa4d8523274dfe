// StepLedger: which steps' pushes a worker has sent, and which of them are acknowledged by every server. Thread-safe.
#ifndef ROWAN_WORKER_CLIENT_STEP_LEDGER_H_
#define ROWAN_WORKER_CLIENT_STEP_LEDGER_H_

#include <cstdint>
#include <set>

#include "absl/status/status.h"
#include "common/mutex.h"

namespace rowan {

class StepLedger {
 public:
  // A worker whose first step is this one.
  explicit StepLedger(uint64_t first_step) : pushed_(first_step), acknowledged_(first_step) {}

  // Pushes of all steps below this one were sent and not refused: the step to be pushed next.
  uint64_t pushed() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return pushed_;
  }
  // Pushes of all steps below this one are acknowledged by every server: what the rank commits (P4).
  uint64_t acknowledged() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return acknowledged_;
  }

  // REQUIRES: step == pushed().
  void MarkSent(uint64_t step) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    pushed_ = step + 1;
  }
  // OK: every server has the push. An error: some server has not, and the step may be pushed again unless a later one
  // was. Pushes may be answered in any order.
  void MarkAnswered(uint64_t step, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (!status.ok()) {
      if (pushed_ == step + 1) pushed_ = step;
      return;
    }
    ahead_.insert(step);
    while (!ahead_.empty() && *ahead_.begin() == acknowledged_) {
      ahead_.erase(ahead_.begin());
      ++acknowledged_;
    }
  }

 private:
  mutable Mutex mu_;
  uint64_t pushed_ ABSL_GUARDED_BY(mu_);
  uint64_t acknowledged_ ABSL_GUARDED_BY(mu_);
  std::set<uint64_t> ahead_ ABSL_GUARDED_BY(mu_);  // acknowledged ones beyond the first that is not
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_STEP_LEDGER_H_
