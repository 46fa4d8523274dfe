#include "worker/client/router.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/table/keys.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::OddKeys;
using ::rowan::testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr uint32_t kShards = 32;

ShardMap MapOf(size_t servers) {
  ShardMap map;
  map.version = 4;
  map.servers.resize(servers);
  map.server_of_shard = EvenPlacement(kShards, servers);
  return map;
}

TEST(RouterTest, OneServerGetsTheCallersOwnMemory) {
  const Router router(Placement(kShards), MapOf(1));
  const std::vector<uint64_t> keys = OddKeys();
  std::vector<float> rows(keys.size() * 3);
  std::vector<Outcome> outcomes(keys.size());
  const Router::Pulls pulls = router.Pull({{7, keys, absl::MakeSpan(rows), absl::MakeSpan(outcomes)}}, {});
  ASSERT_EQ(pulls.requests.size(), 1u);
  const TablePull& pull = pulls.requests[0].tables.at(0);
  EXPECT_EQ(pull.keys.data(), keys.data());
  EXPECT_EQ(pull.keys.size(), keys.size());
  EXPECT_TRUE(pull.places.empty());
}

TEST(RouterTest, EachKeyAndBlockIsAskedOfItsServerOnceWithItsPlace) {
  std::mt19937_64 random(3);
  const Placement placement(kShards);
  for (size_t servers = 2; servers <= 40; servers += servers < 8 ? 1 : 16) {
    const ShardMap map = MapOf(servers);
    const Router router(placement, map);
    std::vector<std::vector<uint64_t>> keys(4);
    keys[0] = OddKeys();
    keys[1].resize(300);
    for (uint64_t& key : keys[1]) key = random() % 100;  // duplicates
    keys[3] = {5};
    std::vector<float> rows(1000), values(30000);
    std::vector<Outcome> outcomes(1000);
    std::vector<TablePull> whole;
    for (uint32_t t = 0; t < 4; ++t) {
      whole.push_back({10 + t, keys[t], absl::MakeSpan(rows).first(keys[t].size()),
                       absl::MakeSpan(outcomes).first(t % 2 == 0 ? keys[t].size() : 0)});
    }
    const Router::Pulls pulls = router.Pull(whole, {{77, "tower", absl::MakeSpan(values)}});
    ASSERT_EQ(pulls.requests.size(), servers);
    std::map<uint32_t, std::set<uint32_t>> places;
    std::set<uint64_t> blocks;
    for (size_t s = 0; s < servers; ++s) {
      for (const TablePull& pull : pulls.requests[s].tables) {
        const std::vector<uint64_t>& all = keys[pull.table - 10];
        ASSERT_FALSE(pull.keys.empty());
        ASSERT_EQ(pull.places.size(), pull.keys.size());
        EXPECT_EQ(pull.rows.size(), all.size()) << "the whole";
        EXPECT_EQ(pull.outcomes.size(), pull.table % 2 == 0 ? all.size() : 0);
        for (size_t i = 0; i < pull.keys.size(); ++i) {
          EXPECT_EQ(pull.keys[i], all.at(pull.places[i]));
          EXPECT_EQ(map.server_of_shard[placement.ShardOfKey(pull.keys[i])], s);
          EXPECT_TRUE(places[pull.table].insert(pull.places[i]).second) << "asked twice";
          EXPECT_TRUE(i == 0 || pull.places[i - 1] < pull.places[i]) << "in the caller's order";
        }
      }
      for (const DensePull& pull : pulls.requests[s].dense) {
        EXPECT_EQ(map.server_of_shard[placement.ShardOfDenseBlock("tower", pull.block)], s);
        EXPECT_EQ(pull.values.data(), values.data() + pull.block * kDenseBlockFloats);
        EXPECT_EQ(pull.values.size(), static_cast<size_t>(DenseBlockSize(30000, pull.block)));
        EXPECT_TRUE(blocks.insert(pull.block).second);
      }
    }
    for (uint32_t t = 0; t < 4; ++t) EXPECT_EQ(places[10 + t].size(), keys[t].size());
    EXPECT_EQ(blocks.size(), 8u);
  }
}

TEST(RouterTest, EveryServerGetsAPushWithTheSameWeightAndRefusals) {
  const ShardMap map = MapOf(5);
  const Router router(Placement(kShards), map);
  PushRequest whole;
  whole.weight = 12;
  whole.refused_dense = {3, 9};
  whole.storage = std::make_shared<int>(1);
  for (const uint32_t shard : {0u, 1u, 6u, 30u, 31u}) {
    whole.sections.emplace_back();
    whole.sections.back().shard = shard;
  }
  const std::vector<PushRequest> pushes = router.Push(whole);
  ASSERT_EQ(pushes.size(), 5u);
  std::vector<std::vector<uint32_t>> shards(5);
  for (size_t s = 0; s < 5; ++s) {
    EXPECT_EQ(pushes[s].weight, 12);
    EXPECT_EQ(pushes[s].refused_dense, whole.refused_dense);
    EXPECT_EQ(pushes[s].storage, whole.storage);
    for (const PushSection& section : pushes[s].sections) shards[s].push_back(section.shard);
  }
  EXPECT_EQ(shards, (std::vector<std::vector<uint32_t>>{{0, 1, 6}, {}, {}, {}, {30, 31}}));
}

TEST(RouterTest, MapsThatDoNotFitAreRefused) {
  EXPECT_OK(CheckShardMap(MapOf(3), kShards));
  EXPECT_THAT(CheckShardMap(MapOf(3), 64), StatusIs(kInvalid, "shard map 4 has 32 shards, the job has 64"));
  ShardMap map = MapOf(3);
  map.server_of_shard[9] = 3;
  EXPECT_THAT(CheckShardMap(map, kShards), StatusIs(kInvalid, "shard map 4 has shard 9 on server 3 of 3"));
}

}  // namespace
}  // namespace rowan
