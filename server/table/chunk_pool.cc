#include "server/table/chunk_pool.h"

#include <sys/mman.h>

#include <cerrno>

#include "glog/logging.h"

namespace rowan {
namespace {
constexpr uintptr_t kHugePage = 2 << 20;
}  // namespace

ChunkPool::~ChunkPool() {
  for (const Region& region : regions_) munmap(region.address, region.bytes);
}

char* ChunkPool::Allocate() {
  MutexLock lock(&mu_);
  if (!free_.empty()) {
    char* chunk = free_.back();
    free_.pop_back();
    return chunk;
  }
  if (next_ == end_) {
    const int64_t bytes = kRegionBytes + kHugePage;  // Room to align; the unaligned ends are never touched.
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    PCHECK(address != MAP_FAILED) << "no memory for " << bytes << " bytes of rows";
    regions_.push_back({static_cast<char*>(address), bytes});
    next_ = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(address) + kHugePage - 1) & ~(kHugePage - 1));
    end_ = next_ + kRegionBytes;
    madvise(next_, kRegionBytes, MADV_HUGEPAGE);  // Only speed is lost where the kernel refuses.
  }
  char* chunk = next_;
  next_ += kChunkBytes;
  return chunk;
}

void ChunkPool::Free(char* chunk) {
  MutexLock lock(&mu_);
  free_.push_back(chunk);
}

int64_t ChunkPool::reserved_bytes() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(regions_.size()) * kRegionBytes;
}

}  // namespace rowan
