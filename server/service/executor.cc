#include "server/service/executor.h"

#include <utility>

namespace rowan {

Executor::Executor(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

void Executor::Join() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
    changed_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Executor::Post(std::function<void()> task) {
  MutexLock lock(&mu_);
  tasks_.push_back(std::move(task));
  changed_.Signal();
}

void Executor::Run() {
  mu_.Lock();
  while (true) {
    if (!tasks_.empty()) {
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      mu_.Unlock();
      task();
      task = nullptr;
      mu_.Lock();
    } else if (stop_) {
      break;
    } else {
      changed_.WaitWithTimeout(&mu_, absl::Seconds(10));
    }
  }
  mu_.Unlock();
}

}  // namespace rowan
