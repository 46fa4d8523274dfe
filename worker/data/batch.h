// Batch: the model inputs of some samples, in arrays that are reused from step to step.
//
// Filled between Begin and Finish by who knows the format (criteo_features.h), read afterwards. Not thread-safe.
#ifndef ROWAN_WORKER_DATA_BATCH_H_
#define ROWAN_WORKER_DATA_BATCH_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace rowan {

struct Batch {
  static constexpr int kNumbers = 26;
  static constexpr int kKeys = 26;

  int64_t size = 0;            // Samples, called n below.
  std::vector<float> labels;   // (n): 0 or 1.
  std::vector<float> numbers;  // (n, kNumbers), row-major: a sample's numbers are neighbours.
  std::vector<uint64_t> keys;  // (kKeys, n): a feature's keys are neighbours.
  std::vector<int64_t> rows;   // (n): the samples' rows in the LineIndex, for messages.

  // The keys of feature `column`, one per sample.
  absl::Span<const uint64_t> Keys(int column) const { return absl::MakeConstSpan(keys).subspan(column * size, size); }

  // Makes room for `capacity` samples and drops those there; until Finish the keys of column c begin at c * capacity.
  // Allocates only for a capacity not seen before.
  void Begin(int64_t capacity);
  // Cuts the arrays to the `size` samples that were filled, so that they are laid out as written above.
  void Finish();
};

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_BATCH_H_
