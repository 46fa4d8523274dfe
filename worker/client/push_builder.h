// PushBuilder: a worker's gradients in shard order, as sections ready for the wire. Not thread-safe.
#ifndef ROWAN_WORKER_CLIENT_PUSH_BUILDER_H_
#define ROWAN_WORKER_CLIENT_PUSH_BUILDER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/data_plane.h"
#include "common/mutex.h"
#include "common/placement.h"
#include "common/thread_pool.h"

namespace rowan {

class PushBuilder {
 public:
  struct Rows {
    uint32_t table;
    int64_t width;
    absl::Span<const uint64_t> keys;
    absl::Span<const uint32_t> occurrences;  // (n) or empty
    absl::Span<const float> gradients;       // (n, width)
  };
  struct Dense {
    uint32_t dense;
    absl::string_view name;
    absl::Span<const float> gradient;  // the whole parameter
  };

  // `pool` may be null. It outlives the builder.
  PushBuilder(Placement placement, ThreadPool* pool) : placement_(placement), pool_(pool) {}

  // Copies everything; the request owns the copies. The header is left to the caller. Dense parameters with a gradient
  // that cannot be applied are named in `refused_dense`: one that is NaN, or 2^100 or more before or after the division
  // by the weight. So sums over 2^20 ranks stay finite, and all servers refuse alike.
  // REQUIRES: sizes fit; each table and parameter comes once.
  PushRequest Build(absl::Span<const Rows> rows, absl::Span<const Dense> dense, double weight = 0);

 private:
  struct Storage {
    std::vector<uint64_t> keys;
    std::vector<uint32_t> occurrences;
    std::unique_ptr<float[]> gradients;
    int64_t gradients_capacity = 0;
  };
  // Storage that no push uses any more, to be used again: fresh memory costs page faults. Outlives the builder for as
  // long as a push does.
  struct FreeList {
    Mutex mu;
    std::vector<std::unique_ptr<Storage>> storages ABSL_GUARDED_BY(mu);
  };
  std::shared_ptr<Storage> TakeStorage();

  const Placement placement_;
  ThreadPool* const pool_;
  const std::shared_ptr<FreeList> free_ = std::make_shared<FreeList>();
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_PUSH_BUILDER_H_
