// KeyPlan: the keys of a request, of all its tables, in shard order, so that each shard's lock is taken once.
#ifndef ROWAN_SERVER_TABLE_KEY_PLAN_H_
#define ROWAN_SERVER_TABLE_KEY_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "common/placement.h"

namespace rowan {

class KeyPlan {
 public:
  struct Entry {
    uint64_t hash;   // KeyHash(key)
    uint32_t table;  // index into the tables given
    uint32_t key;    // index into that table's keys
  };
  // Shards [first, end) with their entries: one task, whose locks are held together.
  struct Wave {
    uint32_t first_shard;
    uint32_t end_shard;
  };

  // `keys[i]`: the keys of the request's table i; fewer than 2^32 each.
  KeyPlan(Placement placement, absl::Span<const absl::Span<const uint64_t>> keys);

  // Entries of one shard: grouped by table, in the request's order.
  absl::Span<const Entry> Shard(uint32_t shard) const { return Shards(shard, shard + 1); }
  absl::Span<const Entry> Shards(uint32_t first, uint32_t end) const {
    return {entries_.get() + starts_[first], static_cast<size_t>(starts_[end] - starts_[first])};
  }
  // Consecutive shards, at most 16 together, with enough entries in each wave to hide memory latency.
  std::vector<Wave> Waves() const;

 private:
  std::vector<int64_t> starts_;  // (num_shards + 1)
  std::unique_ptr<Entry[]> entries_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_KEY_PLAN_H_
