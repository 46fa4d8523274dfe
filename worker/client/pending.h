// Pending: the result of a call that is on its way. A future of absl::Status.
#ifndef ROWAN_WORKER_CLIENT_PENDING_H_
#define ROWAN_WORKER_CLIENT_PENDING_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/mutex.h"

namespace rowan {

// Movable. Thread-safe as far as one object is used by one thread at a time.
class Pending {
 public:
  // What the two sides share. Kept alive by both.
  struct State {
    Mutex mu;
    CondVar changed;
    bool done ABSL_GUARDED_BY(mu) = false;
    absl::Status status ABSL_GUARDED_BY(mu);

    void Finish(absl::Status result) ABSL_LOCKS_EXCLUDED(mu);
  };

  // Already done.
  explicit Pending(absl::Status status);
  // `cancel` makes a call that cannot be answered yet finish soon, with Cancelled saying what it waited for.
  Pending(std::shared_ptr<State> state, absl::Duration deadline, std::function<void()> cancel)
      : state_(std::move(state)), deadline_(deadline), cancel_(std::move(cancel)) {}
  // Waits if nobody has: the call's memory is the caller's.
  ~Pending();
  Pending(Pending&&) = default;
  Pending& operator=(Pending&&) = delete;

  // The call's result. DeadlineExceeded, naming what it waited for, when it took longer than the client's deadline.
  // Afterwards the call's spans are free again, whatever the result.
  absl::Status Wait();

 private:
  std::shared_ptr<State> state_;
  absl::Duration deadline_;
  std::function<void()> cancel_;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_PENDING_H_
