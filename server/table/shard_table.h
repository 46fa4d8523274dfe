// ShardTable: the rows of one table in one shard: an index over an arena. Not thread-safe: the shard's lock guards it.
//
// Lookups of many keys are written as passes over a batch, so that the memory of many rows is on its way at once:
// Prefetch (index line), the caller's prefetch of what Guess returns (row lines), then Find.
#ifndef ROWAN_SERVER_TABLE_SHARD_TABLE_H_
#define ROWAN_SERVER_TABLE_SHARD_TABLE_H_

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "common/hash.h"
#include "common/placement.h"
#include "common/row_format.h"
#include "server/table/row_arena.h"
#include "server/table/row_index.h"
#include "server/table/table_schema.h"

namespace rowan {

// Brings a block's cache lines on their way, for reading or for writing too.
template <bool kToWrite>
void PrefetchBlock(const char* block, int64_t bytes) {
  for (int64_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch(block + offset, kToWrite);
  __builtin_prefetch(block + bytes - 1, kToWrite);
}

class ShardTable {
 public:
  // Rows in a batch: few enough for the memory system to bring at once.
  static constexpr int64_t kBatch = 64;

  ShardTable(std::shared_ptr<const TableSchema> schema, Placement placement, ChunkPool* pool)
      : schema_(std::move(schema)), placement_(placement), arena_(schema_->row_bytes(), pool) {}

  const TableSchema& schema() const { return *schema_; }
  int64_t rows() const { return index_.size(); }
  int64_t index_bytes() const { return index_.allocated_bytes(); }
  int64_t block_bytes() const { return arena_.allocated_bytes(); }

  // `hash` is KeyHash(key) throughout.
  void Prefetch(uint64_t hash) const { index_.Prefetch(placement_.HashInShard(hash)); }
  // The block that is probably the key's own, or null if there is none: only for prefetching.
  const char* Guess(uint64_t hash) const {
    const uint32_t slot = index_.Candidate(placement_.HashInShard(hash));
    return slot == RowIndex::kNone ? nullptr : arena_.Block(slot);
  }
  // The key's block or null. Good until the next Create.
  const char* Find(uint64_t hash, uint64_t key) const {
    const uint32_t slot = FindSlot(hash, key);
    return slot == RowIndex::kNone ? nullptr : arena_.Block(slot);
  }
  char* Find(uint64_t hash, uint64_t key) {
    return const_cast<char*>(static_cast<const ShardTable*>(this)->Find(hash, key));
  }

  // Gives the key a row with initial values. REQUIRES: it has none.
  char* Create(uint64_t hash, uint64_t key);
  // Gives the key a row with this block. REQUIRES: it has none; block_bytes fits the schema.
  void Load(const char* block);
  // Returns false if the key has no row.
  bool Erase(uint64_t hash, uint64_t key);

  // Calls visit(block) for every row, in no particular order.
  void ForEach(absl::FunctionRef<void(const char*)> visit) const {
    index_.ForEach([&](uint32_t slot) { visit(arena_.Block(slot)); });
  }

 private:
  uint32_t FindSlot(uint64_t hash, uint64_t key) const {
    return index_.Find(placement_.HashInShard(hash),
                       [&](uint32_t slot) { return LoadRowKey(arena_.Block(slot)) == key; });
  }
  void Publish(uint64_t hash, uint32_t slot);

  const std::shared_ptr<const TableSchema> schema_;
  const Placement placement_;
  RowIndex index_;
  RowArena arena_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_SHARD_TABLE_H_
