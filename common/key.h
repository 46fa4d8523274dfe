// Key: the 64-bit key of one id of one feature. The same id under two features is two keys.
//
// Serving must compute the same keys as training did, so the function is FROZEN as version 1, its vectors are in
// tests/common/key_test.cc, and this is all of it in Python:
//
//   M = 2**64 - 1
//   def mix(x):
//       x ^= x >> 30; x = x * 0xbf58476d1ce4e5b9 & M; x ^= x >> 27; x = x * 0x94d049bb133111eb & M; return x ^ x >> 31
//   def bytes_hash(seed, b):
//       h = seed
//       for i in range(0, len(b), 8): h = mix(h ^ int.from_bytes(b[i:i + 8], 'little'))
//       return mix(h ^ len(b))
//   def key(feature, id):                       # feature: bytes; id: bytes or int
//       f = bytes_hash(0x726f77616e6b6579, feature)
//       return mix(mix(f ^ id) ^ M) if isinstance(id, int) else bytes_hash(f, id)
//
// Within one feature, two different numbers never share a key, nor do two different strings of the same length of at
// most 8 bytes. Everything else collides like a random 64-bit function. It is no defence against chosen ids.
#ifndef ROWAN_COMMON_KEY_H_
#define ROWAN_COMMON_KEY_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/hash.h"

namespace rowan {

inline constexpr int kKeyVersion = 1;

// A feature's name, hashed once, for making many keys.
class Feature {
 public:
  explicit Feature(absl::string_view name) : hash_(BytesHash(0x726f77616e6b6579u, name)) {}

  uint64_t Key(absl::string_view id) const { return BytesHash(hash_, id); }
  uint64_t Key(uint64_t id) const { return Mix64(Mix64(hash_ ^ id) ^ ~uint64_t{0}); }

 private:
  uint64_t hash_;
};

inline uint64_t Key(absl::string_view feature, absl::string_view id) { return Feature(feature).Key(id); }
inline uint64_t Key(absl::string_view feature, uint64_t id) { return Feature(feature).Key(id); }

}  // namespace rowan

#endif  // ROWAN_COMMON_KEY_H_
