#include "common/mutex.h"

namespace rowan {
namespace {

// Debian's abseil looks for lock-order cycles in every program. Debug and sanitizer builds keep that; elsewhere it costs
// a graph search whenever a thread holds several shards' locks.
#if defined(NDEBUG) && !defined(ROWAN_SANITIZED)
[[maybe_unused]] const bool deadlock_detection_off = [] {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return true;
}();
#endif

}  // namespace
}  // namespace rowan
