// The mixing functions under everything that must be the same on every machine for ever: shard of a key, initial
// values, keys from ids, sample order. FROZEN: changing one changes the meaning of every stored model.
#ifndef ROWAN_COMMON_HASH_H_
#define ROWAN_COMMON_HASH_H_

#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace rowan {

// A bijection of 64-bit values whose output bits all depend on all input bits.
// Source: the finalizer of SplitMix64, Steele, Lea, Flood 2014 (variant 13 of Stafford's mixers).
inline uint64_t Mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x;
}

// The increment of SplitMix64: the odd number nearest 2^64 / golden ratio.
inline constexpr uint64_t kGoldenGamma = 0x9e3779b97f4a7c15u;

// Element `i` of the random sequence named `seed`.
inline uint64_t RandomBits(uint64_t seed, uint64_t i) { return Mix64(seed + (i + 1) * kGoldenGamma); }

// The hash of a key: its top bits choose the shard, the next ones the place in a shard's index.
inline uint64_t KeyHash(uint64_t key) { return Mix64(key + kGoldenGamma); }

// A 64-bit hash of bytes: 8 at a time, little-endian, the last piece padded with zeros, the length last.
inline uint64_t BytesHash(uint64_t seed, absl::string_view bytes) {
  uint64_t h = seed;
  const char* p = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t piece;
    std::memcpy(&piece, p, 8);
    h = Mix64(h ^ piece);
  }
  if (left > 0) {
    uint64_t piece = 0;
    std::memcpy(&piece, p, left);
    h = Mix64(h ^ piece);
  }
  return Mix64(h ^ bytes.size());
}

}  // namespace rowan

#endif  // ROWAN_COMMON_HASH_H_
