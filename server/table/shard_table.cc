#include "server/table/shard_table.h"

#include <cstring>

namespace rowan {

void ShardTable::Publish(uint64_t hash, uint32_t slot) {
  index_.Insert(placement_.HashInShard(hash), slot, [this](uint32_t s) {
    return placement_.HashInShard(KeyHash(LoadRowKey(arena_.Block(s))));
  });
}

char* ShardTable::Create(uint64_t hash, uint64_t key) {
  const uint32_t slot = arena_.Allocate();
  char* const block = arena_.Block(slot);
  schema_->InitBlock(key, block);  // Whole before anybody can find it.
  Publish(hash, slot);
  return block;
}

void ShardTable::Load(const char* block) {
  const uint32_t slot = arena_.Allocate();
  std::memcpy(arena_.Block(slot), block, schema_->row_bytes());
  Publish(KeyHash(LoadRowKey(block)), slot);
}

bool ShardTable::Erase(uint64_t hash, uint64_t key) {
  const uint32_t slot = FindSlot(hash, key);
  if (slot == RowIndex::kNone) return false;
  index_.Erase(placement_.HashInShard(hash), slot);
  arena_.Free(slot);
  return true;
}

}  // namespace rowan
