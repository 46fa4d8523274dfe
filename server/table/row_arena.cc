#include "server/table/row_arena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "glog/logging.h"

namespace rowan {
namespace {

int BitsFor(int64_t n) {
  int bits = 0;
  while ((int64_t{1} << bits) < n) ++bits;
  return bits;
}

}  // namespace

RowArena::RowArena(int64_t row_bytes, ChunkPool* pool)
    : row_bytes_(row_bytes),
      chunk_bytes_(std::max(row_bytes, ChunkPool::kChunkBytes)),
      rows_per_chunk_(chunk_bytes_ / row_bytes),
      slot_bits_(BitsFor(rows_per_chunk_)),
      slot_mask_((uint32_t{1} << slot_bits_) - 1),
      pool_(pool) {
  CHECK_GE(row_bytes, 1);
}

RowArena::~RowArena() {
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (i == 0 && first_chunk_rows_ < rows_per_chunk_) {
      std::free(chunks_[0]);
    } else {
      DeleteChunk(chunks_[i]);
    }
  }
}

char* RowArena::NewChunk() {
  if (chunk_bytes_ == ChunkPool::kChunkBytes) return pool_->Allocate();
  char* chunk = static_cast<char*>(std::malloc(chunk_bytes_));
  CHECK(chunk != nullptr) << "no memory for a row of " << chunk_bytes_ << " bytes";
  return chunk;
}

void RowArena::DeleteChunk(char* chunk) {
  if (chunk_bytes_ == ChunkPool::kChunkBytes) {
    pool_->Free(chunk);
  } else {
    std::free(chunk);
  }
}

void RowArena::GrowFirstChunk() {
  const int64_t rows = std::min(rows_per_chunk_, std::max<int64_t>(1, 2 * first_chunk_rows_));
  char* old = chunks_.empty() ? nullptr : chunks_[0];
  char* grown;
  if (rows == rows_per_chunk_) {
    grown = NewChunk();
    if (old != nullptr) std::memcpy(grown, old, first_chunk_rows_ * row_bytes_);
    std::free(old);
  } else {
    grown = static_cast<char*>(std::realloc(old, rows * row_bytes_));
    CHECK(grown != nullptr) << "no memory for " << rows << " rows of " << row_bytes_ << " bytes";
  }
  chunks_.resize(1);
  chunks_[0] = grown;
  first_chunk_rows_ = rows;
}

uint32_t RowArena::Allocate() {
  if (!free_.empty()) {
    const uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  const int64_t chunk = used_ / rows_per_chunk_;
  const int64_t place = used_ % rows_per_chunk_;
  // The last number means "none" to the index.
  CHECK_LT(chunk << slot_bits_ | place, (int64_t{1} << 32) - 1) << "2^32 rows of a table in one shard: use more shards";
  if (chunk == 0) {
    if (place == first_chunk_rows_) GrowFirstChunk();
  } else if (place == 0) {
    chunks_.push_back(NewChunk());
  }
  ++used_;
  return static_cast<uint32_t>(chunk << slot_bits_ | place);
}

int64_t RowArena::allocated_bytes() const {
  if (chunks_.empty()) return 0;
  const int64_t first = first_chunk_rows_ < rows_per_chunk_ ? first_chunk_rows_ * row_bytes_ : chunk_bytes_;
  return first + (static_cast<int64_t>(chunks_.size()) - 1) * chunk_bytes_;
}

}  // namespace rowan
