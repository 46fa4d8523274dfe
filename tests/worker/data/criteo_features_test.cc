#include "worker/data/criteo_features.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/key.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/data/batch.h"
#include "worker/data/criteo.h"
#include "worker/data/signed_log.h"

namespace rowan {
namespace {

CriteoRow Row(int label, int64_t first_integer) {
  CriteoRow row = {};
  row.label = label;
  for (int i = 0; i < kCriteoIntegers; ++i) row.integers[i] = first_integer + i;
  for (int i = 0; i < kCriteoCategoricals; ++i) row.categoricals[i] = "0aF";
  return row;
}

TEST(CriteoFeaturesTest, WritesNumbersByRowAndKeysByColumn) {
  Batch batch;
  batch.Begin(2);
  const CriteoFeatures features;
  CriteoRow second = Row(0, -5);
  second.integers[3] = 0;
  second.missing = 1u << 3;
  second.categoricals[25] = "";
  features.Append(Row(1, 100), 17, &batch);
  features.Append(second, 4, &batch);
  batch.Finish();

  EXPECT_EQ(batch.size, 2);
  EXPECT_THAT(batch.labels, ::testing::ElementsAre(1, 0));
  EXPECT_THAT(batch.rows, ::testing::ElementsAre(17, 4));
  ASSERT_EQ(batch.numbers.size(), 52u);
  for (int i = 0; i < 13; ++i) {
    EXPECT_EQ(batch.numbers[2 * i], SignedLog(100 + i));
    EXPECT_EQ(batch.numbers[2 * i + 1], 0);
    EXPECT_EQ(batch.numbers[26 + 2 * i], i == 3 ? 0 : SignedLog(-5 + i));
    EXPECT_EQ(batch.numbers[26 + 2 * i + 1], i == 3 ? 1 : 0);
  }
  ASSERT_EQ(batch.keys.size(), 52u);
  for (int i = 0; i < 26; ++i) {
    const std::string feature = absl::StrCat("C", i + 1);
    EXPECT_THAT(batch.Keys(i), ::testing::ElementsAre(Key(feature, "0aF"), Key(feature, i == 25 ? "" : "0aF")));
  }
}

TEST(BatchTest, ClosesTheGapOfSamplesLeftOut) {
  Batch full;
  full.Begin(3);
  Batch partial;
  partial.Begin(10);
  const CriteoFeatures features;
  for (int i = 0; i < 3; ++i) {
    features.Append(Row(i % 2, i), i, &full);
    features.Append(Row(i % 2, i), i, &partial);
  }
  full.Finish();
  partial.Finish();
  EXPECT_EQ(partial.size, 3);
  EXPECT_EQ(partial.labels, full.labels);
  EXPECT_EQ(partial.numbers, full.numbers);
  EXPECT_EQ(partial.keys, full.keys);
  EXPECT_EQ(partial.rows, full.rows);
}

TEST(BatchTest, KeepsItsMemory) {
  Batch batch;
  batch.Begin(100);
  const uint64_t* const keys = batch.keys.data();
  const float* const numbers = batch.numbers.data();
  batch.Finish();
  EXPECT_EQ(batch.size, 0);
  EXPECT_TRUE(batch.keys.empty());
  batch.Begin(100);
  EXPECT_EQ(batch.keys.data(), keys);
  EXPECT_EQ(batch.numbers.data(), numbers);
}

}  // namespace
}  // namespace rowan
