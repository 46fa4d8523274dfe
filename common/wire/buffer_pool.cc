#include "common/wire/buffer_pool.h"

#include <cstdlib>
#include <new>
#include <vector>

#include "common/mutex.h"

namespace rowan {
namespace {

constexpr size_t kAlignment = 64;
// Sizes are powers of two; smaller buffers are not kept.
constexpr int kSmallestClass = 14;
constexpr int kClasses = 48;

char* Allocate(size_t bytes) {
  void* const memory = std::aligned_alloc(kAlignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<char*>(memory);
}

}  // namespace

struct BufferPool::Idle {
  explicit Idle(int64_t max) : max_bytes(max) {}
  ~Idle() {
    for (const auto& buffers : by_class) {
      for (char* const buffer : buffers) std::free(buffer);
    }
  }

  const int64_t max_bytes;
  Mutex mu;
  int64_t bytes ABSL_GUARDED_BY(mu) = 0;
  std::vector<char*> by_class[kClasses] ABSL_GUARDED_BY(mu);
};

BufferPool::BufferPool(int64_t max_idle_bytes) : idle_(std::make_shared<Idle>(max_idle_bytes)) {}

std::shared_ptr<char> BufferPool::Take(size_t bytes) {
  if (bytes <= size_t{1} << (kSmallestClass - 1)) {
    const size_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
    return {Allocate(rounded), [](char* buffer) { std::free(buffer); }};
  }
  int size_class = kSmallestClass;
  while (size_t{1} << size_class < bytes) ++size_class;
  char* buffer = nullptr;
  {
    MutexLock lock(&idle_->mu);
    std::vector<char*>& idle = idle_->by_class[size_class];
    if (!idle.empty()) {
      buffer = idle.back();
      idle.pop_back();
      idle_->bytes -= int64_t{1} << size_class;
    }
  }
  if (buffer == nullptr) buffer = Allocate(size_t{1} << size_class);
  return {buffer, [idle = idle_, size_class](char* used) {
            {
              MutexLock lock(&idle->mu);
              if (idle->bytes + (int64_t{1} << size_class) <= idle->max_bytes) {
                idle->bytes += int64_t{1} << size_class;
                idle->by_class[size_class].push_back(used);
                return;
              }
            }
            std::free(used);
          }};
}

}  // namespace rowan
