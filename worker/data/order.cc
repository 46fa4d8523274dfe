#include "worker/data/order.h"

#include <algorithm>

#include "absl/numeric/bits.h"
#include "common/hash.h"

namespace rowan {

int64_t Shuffle(uint64_t key, int64_t n, int64_t i) {
  if (n == 1) return 0;
  const int bits = std::max<int>(2, absl::bit_width(static_cast<uint64_t>(n - 1)));
  const int low = bits / 2;
  const int high = bits - low;
  const int rounds = bits <= 8 ? 24 : 8;
  uint64_t x = i;
  do {
    uint64_t l = x >> low;
    uint64_t r = x & ((uint64_t{1} << low) - 1);
    for (int k = 0; k < rounds; k += 2) {
      l ^= RandomBits(key + r, k) >> (64 - high);
      r ^= RandomBits(key + l, k + 1) >> (64 - low);
    }
    x = l << low | r;
  } while (x >= static_cast<uint64_t>(n));
  return static_cast<int64_t>(x);
}

Order::Order(int64_t rows, uint64_t seed, int64_t epoch, int64_t window)
    : rows_(rows), epoch_key_(RandomBits(seed, epoch)), window_(std::min(window, rows)) {}

int64_t Order::RowAt(int64_t position) const {
  if (window_ == 0) return position;
  const int64_t window = position / window_;
  const int64_t first = window * window_;
  return first + Shuffle(RandomBits(epoch_key_, window), std::min(window_, rows_ - first), position - first);
}

}  // namespace rowan
