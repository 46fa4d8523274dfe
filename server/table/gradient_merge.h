// GradientMerge: the gradients of one table in one shard, one sum a key, from several pushes.
//
// Sums are taken in the order of Add: ranks in rank order, then a push's own order, so that the bits of a sum do not
// depend on anything else. A key that comes once costs no copy. Not thread-safe; reused for one shard after another.
#ifndef ROWAN_SERVER_TABLE_GRADIENT_MERGE_H_
#define ROWAN_SERVER_TABLE_GRADIENT_MERGE_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/types/span.h"

namespace rowan {

class GradientMerge {
 public:
  struct Sum {
    uint64_t hash;          // KeyHash(key)
    uint64_t key;
    uint64_t occurrences;
    const float* gradient;  // (width): the caller's memory or ours, until Reset
    float* own;             // our copy, or null
  };

  // Starts anew for gradients of `width` floats. `expected`: about how many keys will come.
  void Reset(int64_t width, int64_t expected);
  // `gradients`: (n, width), must stay until the next Reset. `occurrences`: (n), or empty for 1 each.
  void Add(absl::Span<const uint64_t> keys, absl::Span<const uint32_t> occurrences, const float* gradients);

  // One entry a key, in order of first appearance.
  absl::Span<const Sum> sums() const { return sums_; }

 private:
  void Resize(size_t places);

  int64_t width_ = 0;
  std::vector<Sum> sums_;
  std::vector<uint32_t> places_;  // open addressing by hash: index into sums_ + 1, 0 = free; a power of two
  std::deque<std::vector<float>> copies_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_GRADIENT_MERGE_H_
