// A ShardEngine that owns some shards of the job.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/shard_map.h"
#include "gtest/gtest.h"
#include "server/table/shard_engine.h"
#include "tests/server/table/engine_fixture.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::DenseGradients;
using ::rowan::testing::DenseOf;
using ::rowan::testing::MakePush;
using ::rowan::testing::RowGradients;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TableOf;
using ::rowan::testing::TestEngine;

constexpr auto kUnavailable = absl::StatusCode::kUnavailable;
constexpr auto kSgd = proto::Optimizer::SGD;
constexpr uint32_t kShards = 16;
constexpr int64_t kBlocks = 40;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Server `server` of `servers`, with table 1 of width 1 and dense parameter 2.
std::unique_ptr<TestEngine> Part(uint32_t server, uint32_t servers) {
  auto engine = std::make_unique<TestEngine>(
      kShards, /*threads=*/2, ShardOwnership{/*map_version=*/9, ShardsOf(EvenPlacement(kShards, servers), server)});
  engine->Add(TableOf("t", 1, kSgd));
  engine->Add(DenseOf("d", kBlocks * kDenseBlockFloats, kSgd));
  return engine;
}

// A key of the shard.
uint64_t KeyIn(uint32_t shard) {
  uint64_t key = 0;
  while (Placement(kShards).ShardOfKey(key) != shard) ++key;
  return key;
}

std::string NotHere(uint32_t shard) {
  return "shard " + std::to_string(shard) + " is not on this server, map version 9";
}

// The parts of the push in the shards that the engine owns.
PushRequest OwnedPart(const TestEngine& engine, PushRequest push) {
  std::vector<PushSection> owned;
  for (PushSection& section : push.sections) {
    if (engine->Owns(section.shard)) owned.push_back(std::move(section));
  }
  push.sections = std::move(owned);
  return push;
}

TEST(ShardOwnershipTest, APullOfAKeyElsewhereIsRefusedBeforeAnythingIsWritten) {
  const auto engine = Part(0, 2);
  std::vector<float> rows(2, -77), block(kDenseBlockFloats, -77);
  const std::vector<uint64_t> keys = {KeyIn(3), KeyIn(8)};
  EXPECT_THAT((*engine)->Pull({TablePull{1, keys, absl::MakeSpan(rows), {}}}, {}), StatusIs(kUnavailable, NotHere(8)));
  EXPECT_EQ(rows, std::vector<float>(2, -77));
  const std::vector<uint64_t> here = {KeyIn(0), KeyIn(7)};
  EXPECT_OK((*engine)->Pull({TablePull{1, here, absl::MakeSpan(rows), {}}}, {}));

  int64_t refused = 0;
  for (uint64_t b = 0; b < kBlocks; ++b) {
    const uint32_t shard = Placement(kShards).ShardOfDenseBlock("d", b);
    const absl::Status status = (*engine)->Pull({}, {DensePull{2, b, absl::MakeSpan(block)}});
    if ((*engine)->Owns(shard)) {
      EXPECT_OK(status);
    } else {
      EXPECT_THAT(status, StatusIs(kUnavailable, NotHere(shard)));
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, kBlocks);
}

TEST(ShardOwnershipTest, ARefusedBlockLeavesTheRowsBesideItUnread) {
  const auto engine = Part(0, 2);
  uint64_t elsewhere = 0;
  while ((*engine)->Owns(Placement(kShards).ShardOfDenseBlock("d", elsewhere))) ++elsewhere;
  std::vector<float> row(1, -77), block(kDenseBlockFloats, -77);
  const std::vector<uint64_t> here = {KeyIn(0)};
  EXPECT_FALSE(
      (*engine)
          ->Pull({TablePull{1, here, absl::MakeSpan(row), {}}}, {DensePull{2, elsewhere, absl::MakeSpan(block)}})
          .ok());
  EXPECT_EQ(row[0], -77);
}

TEST(ShardOwnershipTest, APushWithASectionElsewhereIsRefusedAsAWhole) {
  const auto engine = Part(1, 2);
  const Placement placement(kShards);
  const Digest before = (*engine)->TotalDigest();
  EXPECT_THAT((*engine)->CheckPush(MakePush(placement, {{1, {KeyIn(15), KeyIn(7)}, {1, 1}}})),
              StatusIs(kUnavailable, NotHere(7)));
  EXPECT_THAT(
      (*engine)->CheckPush(MakePush(placement, {}, {{2, "d", std::vector<float>(kBlocks * kDenseBlockFloats)}})),
      StatusIs(kUnavailable, ::testing::HasSubstr("is not on this server")));
  EXPECT_OK((*engine)->CheckPush(MakePush(placement, {{1, {KeyIn(15), KeyIn(8)}, {1, 1}}})));
  EXPECT_EQ((*engine)->TotalDigest(), before);
}

TEST(ShardOwnershipTest, TheDigestsOfTheServersAddUpToThatOfOneWithEverything) {
  RowGradients rows{1, {}, {}};
  for (uint64_t key = 0; key < 500; ++key) {
    rows.keys.push_back(key);
    rows.gradients.push_back(1.0f + key);
  }
  const DenseGradients dense{2, "d", std::vector<float>(kBlocks * kDenseBlockFloats, 0.5f)};
  const PushRequest push = MakePush(Placement(kShards), {rows}, {dense});
  const auto whole = Part(0, 1);
  const PushRequest* const pushes[] = {&push};
  (*whole)->ApplyStep(pushes, 1, 0);
  for (const uint32_t servers : {2u, 3u, 5u, 7u, 16u}) {
    Digest sum;
    int64_t born = 0, blocks = 0;
    for (uint32_t s = 0; s < servers; ++s) {
      const auto part = Part(s, servers);
      const PushRequest own = OwnedPart(*part, push);
      ASSERT_OK((*part)->CheckPush(own));
      const PushRequest* const own_pushes[] = {&own};
      (*part)->ApplyStep(own_pushes, 1, 0);
      sum.Add((*part)->TotalDigest());
      born += part->rows();
      for (uint32_t shard = 0; shard < kShards; ++shard) {
        ASSERT_OK((*part)->ForEachBlock(shard, [&](uint32_t id, uint64_t, absl::string_view) {
          blocks += id == 2;
          return absl::OkStatus();
        }));
      }
    }
    EXPECT_EQ(sum, (*whole)->TotalDigest()) << servers << " servers";
    EXPECT_EQ(born, 500);
    EXPECT_EQ(blocks, kBlocks) << "each block is on one server";
  }
}

TEST(ShardOwnershipTest, BlocksOfOtherServersAreNotLoaded) {
  const auto whole = Part(0, 1);
  const auto part = Part(0, 2);
  int64_t loaded = 0, refused = 0;
  for (uint32_t shard = 0; shard < kShards; ++shard) {
    ASSERT_OK((*whole)->ForEachBlock(shard, [&](uint32_t id, uint64_t key, absl::string_view block) {
      const absl::Status status = (*part)->LoadBlock(shard, id, key, block);
      if ((*part)->Owns(shard)) {
        EXPECT_OK(status);
        ++loaded;
      } else {
        EXPECT_THAT(status, StatusIs(kUnavailable, NotHere(shard)));
        ++refused;
      }
      return absl::OkStatus();
    }));
  }
  EXPECT_GT(loaded, 0);
  EXPECT_EQ(loaded + refused, kBlocks);
}

TEST(ShardOwnershipTest, ADenseParameterThatThePushRefusesStaysAndIsCountedOnce) {
  for (const bool once : {false, true}) {
    int64_t counted = 0;
    for (uint32_t s = 0; s < 3; ++s) {
      const auto part = Part(s, 3);
      const Digest before = (*part)->TotalDigest();
      PushRequest push = OwnedPart(
          *part, MakePush(Placement(kShards), {}, {{2, "d", std::vector<float>(kBlocks * kDenseBlockFloats, 1)}}));
      push.refused_dense = {2};
      ASSERT_OK((*part)->CheckPush(push));
      std::vector<SectionOutcome> outcomes;
      const PushRequest* const pushes[] = {&push};
      ApplyCounts counts;
      if (once) {
        ASSERT_OK((*part)->ApplyOnce(push, &outcomes, &counts));
      } else {
        counts = (*part)->ApplyStep(pushes, 0, 0);
      }
      counted += counts.refused_dense;
      EXPECT_EQ((*part)->TotalDigest(), before) << "server " << s;
    }
    EXPECT_EQ(counted, 1);
  }
}

TEST(ShardOwnershipTest, OneRanksRefusalHoldsForTheStepOfAllRanks) {
  const auto part = Part(0, 2);
  const Digest before = (*part)->TotalDigest();
  const PushRequest fine = OwnedPart(
      *part, MakePush(Placement(kShards), {}, {{2, "d", std::vector<float>(kBlocks * kDenseBlockFloats, 1)}}));
  PushRequest refuses;  // Its NaN lies on the other server.
  refuses.refused_dense = {2};
  const PushRequest* const pushes[] = {&fine, &refuses};
  (*part)->ApplyStep(pushes, 2, 0);
  EXPECT_EQ((*part)->TotalDigest(), before);
  // Beside it, a server's own check goes on.
  PushRequest nan = OwnedPart(
      *part, MakePush(Placement(kShards), {}, {{2, "d", std::vector<float>(kBlocks * kDenseBlockFloats, kNan)}}));
  const PushRequest* const unmarked[] = {&nan};
  EXPECT_EQ((*part)->ApplyStep(unmarked, 2, 0).refused_dense, 1);
  EXPECT_EQ((*part)->TotalDigest(), before);
}

TEST(ShardOwnershipTest, ARefusalOfAnUnknownParameterIsNamed) {
  const auto engine = Part(0, 1);
  PushRequest push;
  push.refused_dense = {5};
  EXPECT_THAT((*engine)->CheckPush(push), StatusIs(absl::StatusCode::kNotFound,
                                                   "push that refuses a dense parameter: no dense parameter has id 5"));
}

}  // namespace
}  // namespace rowan
