// Executor: a few threads that run tasks, in the order of their posting, several at a time. Thread-safe.
#ifndef ROWAN_SERVER_SERVICE_EXECUTOR_H_
#define ROWAN_SERVER_SERVICE_EXECUTOR_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "common/mutex.h"

namespace rowan {

class Executor {
 public:
  explicit Executor(int threads);
  ~Executor() { Join(); }

  // Runs what was posted, and joins the threads. A second call does nothing. REQUIRES: the caller is no task.
  void Join() ABSL_LOCKS_EXCLUDED(mu_);

  // Returns at once, and may be called under any lock that tasks do not hold while they post. REQUIRES: Join has
  // not begun.
  void Post(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_EXECUTOR_H_
