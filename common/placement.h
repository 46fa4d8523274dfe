// Which shard holds a key or a block of a dense parameter. FROZEN: snapshots are laid out by it.
#ifndef ROWAN_COMMON_PLACEMENT_H_
#define ROWAN_COMMON_PLACEMENT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/hash.h"

namespace rowan {

inline constexpr int64_t kDenseBlockFloats = 4096;
inline constexpr uint32_t kMaxShards = 65536;

inline int64_t DenseBlocks(int64_t size) { return (size + kDenseBlockFloats - 1) / kDenseBlockFloats; }
// Floats in block `block` of a dense parameter of `size` floats: the last one may be shorter.
inline int64_t DenseBlockSize(int64_t size, int64_t block) {
  const int64_t left = size - block * kDenseBlockFloats;
  return left < kDenseBlockFloats ? left : kDenseBlockFloats;
}

// Places of one job: 2^shard_bits shards.
class Placement {
 public:
  // REQUIRES: num_shards is a power of two, 1 to kMaxShards.
  explicit Placement(uint32_t num_shards) : shard_bits_(__builtin_ctz(num_shards)) {}

  uint32_t num_shards() const { return uint32_t{1} << shard_bits_; }
  // The top bits of the hash.
  uint32_t ShardOfHash(uint64_t hash) const {
    return shard_bits_ == 0 ? 0 : static_cast<uint32_t>(hash >> (64 - shard_bits_));
  }
  // The hash without the bits that chose the shard, for use inside it.
  uint64_t HashInShard(uint64_t hash) const { return hash << shard_bits_; }
  uint32_t ShardOfKey(uint64_t key) const { return ShardOfHash(KeyHash(key)); }
  uint32_t ShardOfDenseBlock(absl::string_view name, uint64_t block) const {
    return ShardOfHash(RandomBits(BytesHash(/*seed=*/0x64656e7365, name), block));
  }

 private:
  int shard_bits_;
};

inline bool IsValidShardCount(uint64_t n) { return n >= 1 && n <= kMaxShards && (n & (n - 1)) == 0; }

}  // namespace rowan

#endif  // ROWAN_COMMON_PLACEMENT_H_
