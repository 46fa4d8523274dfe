// Digest: one 128-bit number for the exact contents of any set of rows and dense blocks: the sum mod 2^128 of a hash of
// each. A sum, so that shards, threads and memory or cold tier can be added in any order; a collision-free hash in
// practice, not a cryptographic one. FROZEN: digests are printed, stored and compared across versions.
//
//   hash(row)  = XXH3-128 (seed 0) of these 50 bytes:
//     offset  bytes
//          0     16  the table: XXH3-128 of (one byte: 0 table, 1 dense parameter; then its name)
//         16     18  the row block's first 18 bytes: key, update count, last step (common/row_format.h)
//         34     16  XXH3-128 of the row block from byte 20 on: values and optimizer state
//   A 128-bit hash is stored as its lower 64 bits, then its upper 64 bits, little-endian. The row's flags are left out.
#ifndef ROWAN_COMMON_DIGEST_H_
#define ROWAN_COMMON_DIGEST_H_

#include <cstdint>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace rowan {

// What a digest needs to know of a table or dense parameter; compute it once for all rows. Immutable.
class DigestTable {
 public:
  enum class Kind : uint8_t { kTable = 0, kDense = 1 };

  DigestTable(Kind kind, absl::string_view name);

 private:
  friend class Digest;
  char hash_[16];
};

// A value type; the default is the digest of no rows. Not synchronized.
class Digest {
 public:
  // Adds one row block of `table`. `block` needs no alignment. REQUIRES: block_bytes >= kRowHeaderBytes.
  void AddRow(const DigestTable& table, const char* block /* (block_bytes) */, int64_t block_bytes);

  // Adds all rows of another digest.
  void Add(const Digest& other) { sum_ += other.sum_; }

  // 32 lower-case hexadecimal digits, the most significant first.
  std::string ToHex() const;

  // The inverse of ToHex; upper case is accepted too. InvalidArgument for anything else.
  static absl::StatusOr<Digest> Parse(absl::string_view hex);

  friend bool operator==(const Digest& a, const Digest& b) { return a.sum_ == b.sum_; }
  friend bool operator!=(const Digest& a, const Digest& b) { return a.sum_ != b.sum_; }

 private:
  absl::uint128 sum_ = 0;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_DIGEST_H_
