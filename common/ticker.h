// Ticker: a thread that does one thing again and again: heartbeats.
#ifndef ROWAN_COMMON_TICKER_H_
#define ROWAN_COMMON_TICKER_H_

#include <functional>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "common/mutex.h"

namespace rowan {

// Calls `tick` at once, and then `every` after it has returned, until destroyed. Thread-safe.
class Ticker {
 public:
  Ticker(absl::Duration every, std::function<void()> tick)
      : every_(every), tick_(std::move(tick)), thread_([this] { Run(); }) {}
  // Waits for the tick in progress, if any, and joins the thread. Must not be called by a tick.
  ~Ticker() {
    {
      MutexLock lock(&mu_);
      stop_ = true;
      changed_.SignalAll();
    }
    thread_.join();
  }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  // The next tick comes at once, after the one in progress.
  void Hurry() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    hurry_ = true;
    changed_.SignalAll();
  }

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_) {
    mu_.Lock();
    while (!stop_) {
      hurry_ = false;
      mu_.Unlock();
      tick_();
      mu_.Lock();
      bool passed = false;
      while (!stop_ && !hurry_ && !passed) passed = changed_.WaitWithTimeout(&mu_, every_);
    }
    mu_.Unlock();
  }

  const absl::Duration every_;
  const std::function<void()> tick_;
  Mutex mu_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  bool hurry_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // the last member: it uses all others
};

}  // namespace rowan

#endif  // ROWAN_COMMON_TICKER_H_
