// Vectors of the frozen placement, made by an implementation of its own: they hold for ever.
#include "common/placement.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/snapshot/layout.h"
#include "gtest/gtest.h"

namespace rowan {
namespace {

const uint32_t kShards[] = {1, 2, 16, 256, 65536};

TEST(PlacementTest, ShardOfKeyIsFrozen) {
  const struct {
    uint64_t key;
    std::vector<uint32_t> shards;
  } kVectors[] = {
      {0, {0, 1, 14, 226, 57888}},
      {1, {0, 1, 9, 145, 37130}},
      {2, {0, 1, 9, 151, 38744}},
      {12345, {0, 0, 2, 34, 8721}},
      {uint64_t{1} << 63, {0, 0, 4, 72, 18462}},
      {std::numeric_limits<uint64_t>::max(), {0, 1, 14, 228, 58585}},
  };
  for (const auto& vector : kVectors) {
    for (size_t i = 0; i < vector.shards.size(); ++i) {
      EXPECT_EQ(Placement(kShards[i]).ShardOfKey(vector.key), vector.shards[i]) << vector.key << " of " << kShards[i];
    }
  }
}

TEST(PlacementTest, ShardOfDenseBlockIsFrozen) {
  const struct {
    std::string name;
    uint64_t block;
    std::vector<uint32_t> shards;
  } kVectors[] = {
      {"", 0, {0, 1, 14, 234, 59969}},           {"tower", 0, {0, 0, 5, 90, 23136}},
      {"tower", 1, {0, 1, 13, 214, 54960}},      {"tower", 2, {0, 0, 4, 69, 17825}},
      {"tower", 262143, {0, 1, 10, 163, 41847}}, {"ads", 0, {0, 1, 8, 134, 34385}},
  };
  for (const auto& vector : kVectors) {
    for (size_t i = 0; i < vector.shards.size(); ++i) {
      EXPECT_EQ(Placement(kShards[i]).ShardOfDenseBlock(vector.name, vector.block), vector.shards[i])
          << vector.name << " block " << vector.block << " of " << kShards[i];
    }
  }
}

TEST(PlacementTest, ShardCountsArePowersOfTwoThatTheSnapshotsNamesCanHold) {
  for (const uint64_t n : {uint64_t{1}, uint64_t{64}, uint64_t{kMaxShards}}) EXPECT_TRUE(IsValidShardCount(n)) << n;
  for (const uint64_t n : {uint64_t{0}, uint64_t{3}, uint64_t{kMaxShards} * 2, uint64_t{1} << 32}) {
    EXPECT_FALSE(IsValidShardCount(n)) << n;
  }
  EXPECT_EQ(ShardFileName(kMaxShards - 1), "shard-65535.sst");
}

}  // namespace
}  // namespace rowan
