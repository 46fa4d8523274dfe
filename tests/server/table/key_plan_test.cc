#include "server/table/key_plan.h"

#include <random>
#include <vector>

#include "common/hash.h"
#include "gtest/gtest.h"
#include "tests/server/table/keys.h"

namespace rowan {
namespace {

TEST(KeyPlanTest, WavesCoverEveryEntryOnceInTheRequestsOrder) {
  std::mt19937_64 random(5);
  for (const uint32_t shards : {1u, 2u, 16u, 256u, 65536u}) {
    const Placement placement(shards);
    for (const std::vector<int>& sizes :
         {std::vector<int>{}, {0}, {1}, {16}, {0, 300, 0, 5}, {20000}, std::vector<int>(200, 3)}) {
      std::vector<std::vector<uint64_t>> keys;
      for (const int size : sizes) {
        keys.emplace_back();
        for (int i = 0; i < size; ++i) {
          keys.back().push_back(random() % 4 == 0 ? testing::OddKeys()[random() % 16] : random());
        }
      }
      const std::vector<absl::Span<const uint64_t>> spans(keys.begin(), keys.end());
      const KeyPlan plan(placement, spans);
      std::vector<std::vector<int>> seen;
      for (const int size : sizes) seen.emplace_back(size, 0);
      uint32_t next_shard = 0;
      for (const KeyPlan::Wave wave : plan.Waves()) {
        ASSERT_GE(wave.first_shard, next_shard);
        ASSERT_LT(wave.first_shard, wave.end_shard);
        ASSERT_LE(wave.end_shard, shards);
        ASSERT_LE(wave.end_shard - wave.first_shard, 16u);
        next_shard = wave.end_shard;
        size_t in_shards = 0;
        for (uint32_t shard = wave.first_shard; shard < wave.end_shard; ++shard) {
          const KeyPlan::Entry* before = nullptr;
          for (const KeyPlan::Entry& entry : plan.Shard(shard)) {
            const uint64_t key = keys[entry.table][entry.key];
            ASSERT_EQ(entry.hash, KeyHash(key));
            ASSERT_EQ(placement.ShardOfKey(key), shard);
            if (before != nullptr) {
              ASSERT_TRUE(before->table < entry.table || (before->table == entry.table && before->key < entry.key));
            }
            before = &entry;
            ++seen[entry.table][entry.key];
          }
          in_shards += plan.Shard(shard).size();
        }
        ASSERT_EQ(plan.Shards(wave.first_shard, wave.end_shard).size(), in_shards);
        ASSERT_GT(in_shards, 0u) << "a wave without work";
      }
      for (size_t table = 0; table < sizes.size(); ++table) {
        ASSERT_EQ(seen[table], std::vector<int>(sizes[table], 1)) << shards << " shards, table " << table;
      }
    }
  }
}

TEST(KeyPlanTest, LargeRequestsAreSplitIntoAWaveAShard) {
  std::vector<uint64_t> keys(100000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  const absl::Span<const uint64_t> tables[] = {keys};
  const KeyPlan plan(Placement(256), tables);
  EXPECT_EQ(plan.Waves().size(), 256u);
}

}  // namespace
}  // namespace rowan
