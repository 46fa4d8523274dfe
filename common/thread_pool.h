// ThreadPool: a fixed set of threads for ParallelFor.
//
// The caller works too, so a pool of n uses n - 1 threads of its own, and a pool of 1 uses none. Tasks are handed out
// one by one in index order; which thread runs which is not fixed, so tasks must not depend on it. Safe to call from
// several threads at once; the calls take turns. A task must not call back into its own pool.
#ifndef ROWAN_COMMON_THREAD_POOL_H_
#define ROWAN_COMMON_THREAD_POOL_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "common/mutex.h"

namespace rowan {

class ThreadPool {
 public:
  // `on_start`, if not null, runs first in each of the pool's own threads.
  explicit ThreadPool(int threads, void (*on_start)() = nullptr);
  // Joins the threads.
  ~ThreadPool();

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // Runs task(0) .. task(n-1) and returns when all have ended.
  void ParallelFor(int64_t n, absl::FunctionRef<void(int64_t)> task) ABSL_LOCKS_EXCLUDED(turn_, mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  void Work(absl::FunctionRef<void(int64_t)> task, int64_t n);

  Mutex turn_;  // Held by the one ParallelFor in progress. Lock order: turn_, mu_.
  Mutex mu_;
  CondVar wake_;
  CondVar done_;
  const absl::FunctionRef<void(int64_t)>* task_ ABSL_GUARDED_BY(mu_) = nullptr;
  int64_t n_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t round_ ABSL_GUARDED_BY(mu_) = 0;   // Raised by every ParallelFor.
  int active_ ABSL_GUARDED_BY(mu_) = 0;      // Threads inside Work.
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  std::atomic<int64_t> next_{0};             // Next task index of this round.
  void (*const on_start_)();
  std::vector<std::thread> threads_;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_THREAD_POOL_H_
