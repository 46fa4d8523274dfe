// Prefetcher: runs a producer ahead of its consumer, in one thread of its own.
//
// The producer fills one item per call and says whether there was one: false ends the stream, an error ends it too.
// Get has the producer's own shape, so a caller without a pipeline calls the producer directly. Items are handed over
// by swapping: `depth` finished ones, the one being filled and the caller's circulate, and keep their memory.
//
// The producer is called from one thread, never twice at once. Get: one thread at a time. The destructor may run at any
// moment between calls of Get: it waits for the producer's call in progress, joins the thread and drops what was ready.
#ifndef ROWAN_WORKER_DATA_PREFETCHER_H_
#define ROWAN_WORKER_DATA_PREFETCHER_H_

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"

namespace rowan {

template <typename Item>  // Default-constructible; std::swap is cheap.
class Prefetcher {
 public:
  using Producer = std::function<absl::StatusOr<bool>(Item*)>;

  // Starts producing up to `depth` items ahead. REQUIRES: depth >= 1.
  explicit Prefetcher(Producer produce, int depth = 2)
      : produce_(std::move(produce)), ready_(depth), thread_([this] { Run(); }) {}
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  ~Prefetcher() ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(&mu_);
      stop_ = true;
    }
    changed_.SignalAll();
    thread_.join();
  }

  // Waits for the next item and swaps it with *item, whose old content the producer will find in an item it is to fill.
  // Returns what the producer returned; once that was false or an error, the same again.
  absl::StatusOr<bool> Get(Item* item) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (taken_ == made_) {
      if (ended_) {
        if (!error_.ok()) return error_;
        return false;
      }
      changed_.WaitWithTimeout(&mu_, kPatience);
    }
    std::swap(*item, ready_[taken_ % ready_.size()]);
    ++taken_;
    changed_.SignalAll();
    return true;
  }

 private:
  // Bounds each wait; a lost signal costs this much and no more.
  static constexpr absl::Duration kPatience = absl::Milliseconds(500);

  void Run() ABSL_LOCKS_EXCLUDED(mu_) {
    Item item{};
    while (WaitForRoom()) {
      absl::StatusOr<bool> produced = produce_(&item);
      MutexLock lock(&mu_);
      if (produced.ok() && *produced) {
        std::swap(item, ready_[made_ % ready_.size()]);
        ++made_;
      } else {
        error_ = produced.status();
        ended_ = true;
      }
      changed_.SignalAll();
    }
  }

  // Returns false if there is nothing more to produce.
  bool WaitForRoom() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (!stop_ && !ended_ && made_ - taken_ == ready_.size()) changed_.WaitWithTimeout(&mu_, kPatience);
    return !stop_ && !ended_;
  }

  const Producer produce_;
  Mutex mu_;
  CondVar changed_;
  std::vector<Item> ready_ ABSL_GUARDED_BY(mu_);  // A ring: item number i is at i % size.
  uint64_t made_ ABSL_GUARDED_BY(mu_) = 0;        // Items put into the ring,
  uint64_t taken_ ABSL_GUARDED_BY(mu_) = 0;       // and taken out of it.
  bool ended_ ABSL_GUARDED_BY(mu_) = false;       // The producer returned false or error_.
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // Last: it uses everything above.
};

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_PREFETCHER_H_
