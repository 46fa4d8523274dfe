// Order: in which order one epoch reads its rows. A pure function of (rows, seed, epoch, window), the same on every
// rank, that needs no memory: any position is computed by itself.
//
//   window 0          the order of the files
//   window W          windows of W consecutive rows in order, each shuffled within itself (the last may be shorter)
//   window >= rows    the whole epoch is shuffled
//
// Resuming a run depends on it, so the function is FROZEN, its vectors are in tests/worker/data/order_test.cc, and this
// is all of it in Python (mix: common/key.h):
//
//   M = 2**64 - 1
//   def random_bits(seed, i): return mix(seed + (i + 1) * 0x9e3779b97f4a7c15 & M)
//   def shuffle(key, n, i):  # a bijection of 0..n-1: a Feistel network, walked until it is back below n
//       bits = max(2, (n - 1).bit_length()); low = bits // 2; high = bits - low
//       rounds = 24 if bits <= 8 else 8  # few bits mix slowly: with 8 rounds some orders of 5 rows would be rare
//       while n > 1:
//           l, r = i >> low, i & (1 << low) - 1
//           for k in range(0, rounds, 2):
//               l ^= random_bits(key + r & M, k) >> 64 - high
//               r ^= random_bits(key + l & M, k + 1) >> 64 - low
//           i = l << low | r
//           if i < n: break
//       return i
//   def row_at(rows, seed, epoch, window, position):
//       if window == 0: return position
//       w = position // window
//       key = random_bits(random_bits(seed, epoch), w)
//       return w * window + shuffle(key, min(window, rows - w * window), position - w * window)
#ifndef ROWAN_WORKER_DATA_ORDER_H_
#define ROWAN_WORKER_DATA_ORDER_H_

#include <cstdint>

namespace rowan {

// A bijection of 0 .. n-1, chosen by `key`. REQUIRES: 0 <= i < n.
int64_t Shuffle(uint64_t key, int64_t n, int64_t i);

class Order {
 public:
  // REQUIRES: rows, epoch and window are not negative.
  Order(int64_t rows, uint64_t seed, int64_t epoch, int64_t window);

  // The row read at `position` of the epoch. Thread-safe. REQUIRES: 0 <= position < rows.
  int64_t RowAt(int64_t position) const;

 private:
  int64_t rows_;
  uint64_t epoch_key_;
  int64_t window_;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_ORDER_H_
