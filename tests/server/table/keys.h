// Keys for tests: those that break tables with reserved keys, and those that chosen hashes ask for.
#ifndef ROWAN_TESTS_SERVER_TABLE_KEYS_H_
#define ROWAN_TESTS_SERVER_TABLE_KEYS_H_

#include <cstdint>
#include <vector>

namespace rowan::testing {

// The inverse of an odd number modulo 2^64, by Newton's iteration.
inline uint64_t Inverse(uint64_t odd) {
  uint64_t inverse = odd;
  for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

// The one key whose KeyHash is `hash`.
inline uint64_t KeyOfHash(uint64_t hash) {
  uint64_t x = hash;
  x = x ^ x >> 31 ^ x >> 62;
  x *= Inverse(0x94d049bb133111ebu);
  x = x ^ x >> 27 ^ x >> 54;
  x *= Inverse(0xbf58476d1ce4e5b9u);
  x = x ^ x >> 30 ^ x >> 60;
  return x - 0x9e3779b97f4a7c15u;
}

// Every kind of key that somebody may have reserved: in itself or by its hash.
inline std::vector<uint64_t> OddKeys() {
  const uint64_t top = uint64_t{1} << 63;
  return {0,
          1,
          2,
          0xfffffffeu,
          0xffffffffu,
          uint64_t{1} << 32,
          top - 1,
          top,
          top + 1,
          ~uint64_t{1},
          ~uint64_t{0},
          KeyOfHash(0),
          KeyOfHash(1),
          KeyOfHash(top),
          KeyOfHash(~uint64_t{0}),
          KeyOfHash(0xff000000u)};
}

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_SERVER_TABLE_KEYS_H_
