#include "worker/examples/ctr/ctr_batch.h"

#include <algorithm>
#include <random>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void SetKeys(int64_t n, uint64_t distinct, uint32_t seed, CtrBatch* batch) {
  std::mt19937_64 random(seed);
  batch->batch.size = n;
  batch->batch.keys.resize(Batch::kKeys * n);
  // The same few numbers in every column, 0 and 2^64-1 among them.
  for (uint64_t& key : batch->batch.keys) key = random() % distinct - 1;
}

TEST(CtrBatchTest, PlacesLeadToTheKeysWithinTheColumn) {
  Deduplicator deduplicator;
  CtrBatch batch;
  for (const int64_t n : {5, 1000, 1, 0, 300}) {  // one batch after the other, as a training run does
    SetKeys(n, /*distinct=*/50, /*seed=*/n, &batch);
    MakeDistinct(&deduplicator, &batch);
    ASSERT_EQ(batch.places.size(), static_cast<size_t>(Batch::kKeys * n));
    ASSERT_EQ(batch.occurrences.size(), batch.keys.size());
    EXPECT_EQ(batch.first_key[0], 0u);
    EXPECT_EQ(batch.first_key[Batch::kKeys], batch.keys.size());
    std::vector<uint32_t> seen(batch.keys.size());
    for (int c = 0; c < Batch::kKeys; ++c) {
      const absl::Span<const uint64_t> keys = batch.batch.Keys(c);
      for (int64_t i = 0; i < n; ++i) {
        const uint32_t place = batch.places[c * n + i];
        ASSERT_GE(place, batch.first_key[c]);
        ASSERT_LT(place, batch.first_key[c + 1]);
        EXPECT_EQ(batch.keys[place], keys[i]);
        ++seen[place];
      }
      const std::set<uint64_t> distinct(keys.begin(), keys.end());
      EXPECT_EQ(batch.first_key[c + 1] - batch.first_key[c], distinct.size());
    }
    EXPECT_EQ(batch.occurrences, seen);
  }
}

TEST(CtrBatchTest, KeysComeInOrderOfFirstAppearance) {
  Deduplicator deduplicator;
  CtrBatch batch;
  SetKeys(3, 1, 1, &batch);
  std::fill(batch.batch.keys.begin(), batch.batch.keys.end(), 9);
  batch.batch.keys[0] = 7;
  MakeDistinct(&deduplicator, &batch);
  EXPECT_EQ(batch.keys[0], 7u);
  EXPECT_EQ(batch.keys[1], 9u);
  EXPECT_EQ(batch.keys[2], 9u) << "a column does not share places with another one";
  EXPECT_EQ(batch.keys.size(), 27u);
  EXPECT_THAT(std::vector<uint32_t>(batch.places.begin(), batch.places.begin() + 6), ElementsAre(0, 1, 1, 2, 2, 2));
}

TEST(CtrBatchTest, NoSamplesMakeNoKeys) {
  Deduplicator deduplicator;
  CtrBatch batch;
  SetKeys(0, 1, 1, &batch);
  MakeDistinct(&deduplicator, &batch);
  EXPECT_THAT(batch.keys, IsEmpty());
  EXPECT_THAT(batch.places, IsEmpty());
}

}  // namespace
}  // namespace rowan
