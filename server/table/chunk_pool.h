// ChunkPool: memory for rows in pieces of 256 KiB, cut from 2 MiB huge pages and handed out again when freed.
//
// One pool serves all tables and shards of a process, so that a page is shared between small tables and a shard's
// unused space is at most a piece. Thread-safe. Lock order: any shard's lock, then mu_.
#ifndef ROWAN_SERVER_TABLE_CHUNK_POOL_H_
#define ROWAN_SERVER_TABLE_CHUNK_POOL_H_

#include <cstdint>
#include <vector>

#include "common/mutex.h"

namespace rowan {

class ChunkPool {
 public:
  static constexpr int64_t kChunkBytes = 256 << 10;

  ChunkPool() = default;
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  // kChunkBytes of memory, aligned to that, contents undefined. Never null: dies when the machine has no memory.
  char* Allocate() ABSL_LOCKS_EXCLUDED(mu_);
  void Free(char* chunk) ABSL_LOCKS_EXCLUDED(mu_);

  // Taken from the operating system, handed out or not.
  int64_t reserved_bytes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  static constexpr int64_t kRegionBytes = 32 << 20;

  struct Region {
    char* address;
    int64_t bytes;
  };

  mutable Mutex mu_;
  std::vector<Region> regions_ ABSL_GUARDED_BY(mu_);
  std::vector<char*> free_ ABSL_GUARDED_BY(mu_);
  char* next_ ABSL_GUARDED_BY(mu_) = nullptr;  // The unused rest of the newest region is [next_, end_).
  char* end_ ABSL_GUARDED_BY(mu_) = nullptr;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_CHUNK_POOL_H_
