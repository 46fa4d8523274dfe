#include "server/table/key_plan.h"

#include "common/hash.h"

namespace rowan {
namespace {

// A thread holds no more locks at once than ThreadSanitizer's lock-order check can follow (64, less some others).
constexpr uint32_t kMaxShardsPerWave = 16;
constexpr int64_t kEntriesPerWave = 256;

}  // namespace

KeyPlan::KeyPlan(Placement placement, absl::Span<const absl::Span<const uint64_t>> keys)
    : starts_(placement.num_shards() + 1, 0) {
  int64_t total = 0;
  for (const auto& table : keys) total += static_cast<int64_t>(table.size());
  std::unique_ptr<uint64_t[]> hashes(new uint64_t[total]);
  int64_t n = 0;
  for (const auto& table : keys) {
    for (const uint64_t key : table) {
      const uint64_t hash = KeyHash(key);
      hashes[n++] = hash;
      ++starts_[placement.ShardOfHash(hash) + 1];
    }
  }
  for (size_t shard = 1; shard < starts_.size(); ++shard) starts_[shard] += starts_[shard - 1];
  entries_.reset(new Entry[total]);
  std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
  n = 0;
  for (uint32_t table = 0; table < keys.size(); ++table) {
    for (uint32_t key = 0; key < keys[table].size(); ++key) {
      const uint64_t hash = hashes[n++];
      entries_[next[placement.ShardOfHash(hash)]++] = {hash, table, key};
    }
  }
}

std::vector<KeyPlan::Wave> KeyPlan::Waves() const {
  const uint32_t num_shards = static_cast<uint32_t>(starts_.size()) - 1;
  std::vector<Wave> waves;
  for (uint32_t first = 0; first < num_shards;) {
    uint32_t end = first + 1;
    while (end < num_shards && end - first < kMaxShardsPerWave && starts_[end] - starts_[first] < kEntriesPerWave) ++end;
    if (starts_[end] > starts_[first]) waves.push_back({first, end});
    first = end;
  }
  return waves;
}

}  // namespace rowan
