#include "common/thread_pool.h"

#include <algorithm>

namespace rowan {

ThreadPool::ThreadPool(int threads, void (*on_start)()) : on_start_(on_start) {
  threads_.reserve(std::max(0, threads - 1));
  for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
    wake_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Work(absl::FunctionRef<void(int64_t)> task, int64_t n) {
  for (int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < n;) task(i);
}

void ThreadPool::ParallelFor(int64_t n, absl::FunctionRef<void(int64_t)> task) {
  if (n <= 0) return;
  if (threads_.empty() || n == 1) {
    for (int64_t i = 0; i < n; ++i) task(i);
    return;
  }
  MutexLock turn(&turn_);
  {
    MutexLock lock(&mu_);
    task_ = &task;
    n_ = n;
    ++round_;
    next_.store(0, std::memory_order_relaxed);
    wake_.SignalAll();
  }
  Work(task, n);
  MutexLock lock(&mu_);
  task_ = nullptr;  // A thread that wakes only now finds nothing to join.
  while (active_ > 0) done_.WaitWithTimeout(&mu_, absl::Seconds(1));
}

void ThreadPool::Run() {
  if (on_start_ != nullptr) on_start_();
  int64_t seen = 0;
  mu_.Lock();
  while (true) {
    while (!stop_ && (task_ == nullptr || round_ == seen)) wake_.WaitWithTimeout(&mu_, absl::Seconds(10));
    if (stop_) break;
    seen = round_;
    const absl::FunctionRef<void(int64_t)>* task = task_;
    const int64_t n = n_;
    ++active_;
    mu_.Unlock();
    Work(*task, n);
    mu_.Lock();
    if (--active_ == 0) done_.SignalAll();
  }
  mu_.Unlock();
}

}  // namespace rowan
