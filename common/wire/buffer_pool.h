// BufferPool: memory for arrays on their way, used again: fresh memory costs page faults. Thread-safe.
#ifndef ROWAN_COMMON_WIRE_BUFFER_POOL_H_
#define ROWAN_COMMON_WIRE_BUFFER_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rowan {

class BufferPool {
 public:
  // Keeps at most `max_idle_bytes` for later.
  explicit BufferPool(int64_t max_idle_bytes);

  // `bytes` bytes with any contents, aligned to 64. They go back when the last owner lets go, which may be after the
  // pool's end.
  std::shared_ptr<char> Take(size_t bytes);

 private:
  struct Idle;

  const std::shared_ptr<Idle> idle_;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_WIRE_BUFFER_POOL_H_
