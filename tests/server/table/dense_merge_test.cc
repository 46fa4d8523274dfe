#include "server/table/dense_merge.h"

#include <cmath>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowan {
namespace {

using ::testing::ElementsAre;

TEST(DenseMergeTest, SumsAreTakenInTheOrderOfAddAndScaledOnce) {
  const std::vector<float> gradients[] = {{1e8f}, {-1e8f}, {1.0f}};  // Only (0 + 1) + 2 keeps the one.
  ThreadPool pool(2);
  DenseMerge merge;
  for (const auto& gradient : gradients) merge.Add({0, {}, {{1, 0, gradient}}});
  merge.Sum(0.5f, &pool);
  ASSERT_EQ(merge.blocks().size(), 1u);
  EXPECT_THAT(merge.blocks()[0].mean, ElementsAre(0.5f));
}

TEST(DenseMergeTest, SaysWhichMeansAreNotFinite) {
  const std::vector<float> nan = {1, NAN}, big = {3e38f, 0}, fine = {1, 2};
  ThreadPool pool(2);
  DenseMerge merge;
  merge.Add({0, {}, {{1, 0, nan}, {1, 1, big}, {1, 2, fine}}});
  merge.Add({0, {}, {{1, 1, big}}});
  merge.Sum(1, &pool);
  EXPECT_FALSE(merge.blocks()[0].finite);
  EXPECT_FALSE(merge.blocks()[1].finite) << "a sum that is too large";
  EXPECT_TRUE(merge.blocks()[2].finite);
}

TEST(DenseMergeTest, NothingIsInAShardThatHasNothing) {
  ThreadPool pool(1);
  DenseMerge merge;
  merge.Sum(1, &pool);
  EXPECT_TRUE(merge.blocks().empty());
  EXPECT_TRUE(merge.InShard(0).empty());
}

TEST(DenseMergeTest, EqualsAMapOfSums) {
  std::mt19937_64 random(3);
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::vector<float>> storage;
    std::vector<PushSection> sections;
    for (int s = 0; s < 12; ++s) {
      sections.push_back({static_cast<uint32_t>(random() % 4), {}, {}});
      for (uint64_t n = random() % 5; n > 0; --n) {
        const uint64_t block = sections.back().shard + 4 * (random() % 2);  // A block has one shard.
        storage.push_back({static_cast<float>(random() % 100), static_cast<float>(random() % 100)});
        sections.back().dense.push_back({static_cast<uint32_t>(random() % 2), block, {}});
      }
    }
    size_t next = 0;
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::vector<float>> model;
    DenseMerge merge;
    for (PushSection& section : sections) {
      for (DenseGradient& gradient : section.dense) {
        gradient.gradient = storage[next++];
        std::vector<float>& sum = model[{section.shard, gradient.dense, gradient.block}];
        sum.resize(2);
        for (int i = 0; i < 2; ++i) sum[i] += gradient.gradient[i];
      }
      merge.Add(section);
    }
    merge.Sum(1, &pool);
    decltype(model) seen;
    for (uint32_t shard = 0; shard < 4; ++shard) {
      for (const DenseMerge::Block& block : merge.InShard(shard)) {
        EXPECT_EQ(block.shard, shard);
        EXPECT_TRUE(seen.emplace(std::make_tuple(shard, block.dense, block.block), block.mean).second);
      }
    }
    EXPECT_EQ(seen, model);
    EXPECT_EQ(merge.blocks().size(), model.size());
  }
}

}  // namespace
}  // namespace rowan
