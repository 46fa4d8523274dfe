// Deduplicator: the distinct keys of a batch and each occurrence's place among them, in one probe per key.
// Not thread-safe; its memory is reused from call to call.
#ifndef ROWAN_WORKER_CLIENT_DEDUPLICATOR_H_
#define ROWAN_WORKER_CLIENT_DEDUPLICATOR_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace rowan {

class Deduplicator {
 public:
  // Appends to `distinct` the keys of `keys` in order of first appearance, and to `occurrences` how often each comes.
  // places[i] is the index in `distinct`, counted from its first element whatever this call appends, of keys[i].
  // Keys already in `distinct` before the call are not looked at. Fewer than 2^31 keys.
  void Run(absl::Span<const uint64_t> keys,     // (n)
           std::vector<uint64_t>* distinct,     // (m) -> (m + distinct keys)
           std::vector<uint32_t>* occurrences,  // (m) -> (m + distinct keys)
           absl::Span<uint32_t> places);        // (n)

 private:
  struct Place {
    uint64_t key;
    uint32_t round;  // the call that filled it: clearing costs nothing
    uint32_t index;
  };

  std::vector<Place> table_;  // open addressing, a power of two
  uint32_t round_ = 0;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_DEDUPLICATOR_H_
