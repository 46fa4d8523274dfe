#include "worker/data/batch.h"

#include <algorithm>

namespace rowan {

void Batch::Begin(int64_t capacity) {
  size = 0;
  labels.resize(capacity);
  numbers.resize(capacity * kNumbers);
  keys.resize(capacity * kKeys);
  rows.resize(capacity);
}

void Batch::Finish() {
  const auto capacity = static_cast<int64_t>(rows.size());
  if (size == capacity) return;
  for (int column = 1; column < kKeys; ++column) {
    std::copy_n(keys.begin() + column * capacity, size, keys.begin() + column * size);
  }
  labels.resize(size);
  numbers.resize(size * kNumbers);
  keys.resize(size * kKeys);
  rows.resize(size);
}

}  // namespace rowan
