// RowArena: the row blocks of one table in one shard, addressed by slot numbers.
//
// Layout: chunks of `rows_per_chunk` blocks; slot = chunk << slot_bits | place in the chunk. The first chunk begins with
// one block and doubles, moving, until it is a whole chunk, so that a table of few rows costs few bytes; later chunks
// never move. Pointers are therefore good until the next Allocate. Not thread-safe: the shard's lock guards it.
#ifndef ROWAN_SERVER_TABLE_ROW_ARENA_H_
#define ROWAN_SERVER_TABLE_ROW_ARENA_H_

#include <cstdint>
#include <vector>

#include "server/table/chunk_pool.h"

namespace rowan {

class RowArena {
 public:
  // `pool` outlives the arena. REQUIRES: row_bytes >= 1.
  RowArena(int64_t row_bytes, ChunkPool* pool);
  ~RowArena();
  RowArena(const RowArena&) = delete;
  RowArena& operator=(const RowArena&) = delete;

  // A slot whose block has undefined contents: the caller writes all of it. Freed slots are used first.
  uint32_t Allocate();
  void Free(uint32_t slot) { free_.push_back(slot); }

  char* Block(uint32_t slot) { return chunks_[slot >> slot_bits_] + (slot & slot_mask_) * row_bytes_; }
  const char* Block(uint32_t slot) const { return const_cast<RowArena*>(this)->Block(slot); }

  int64_t rows() const { return used_ - static_cast<int64_t>(free_.size()); }
  // Memory held for blocks, used or not.
  int64_t allocated_bytes() const;

 private:
  void GrowFirstChunk();
  char* NewChunk();
  void DeleteChunk(char* chunk);

  const int64_t row_bytes_;
  const int64_t chunk_bytes_;     // Of a whole chunk: the pool's, or one row where rows are larger.
  const int64_t rows_per_chunk_;
  const int slot_bits_;
  const uint32_t slot_mask_;
  ChunkPool* const pool_;
  std::vector<char*> chunks_;
  int64_t first_chunk_rows_ = 0;  // Capacity of chunks_[0].
  int64_t used_ = 0;              // Slots ever handed out.
  std::vector<uint32_t> free_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_ROW_ARENA_H_
