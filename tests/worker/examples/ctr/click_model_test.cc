#include "worker/examples/ctr/click_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowan {
namespace {

using ::testing::ElementsAre;

bool Same(const ClickRow& a, const ClickRow& b) {
  return a.click == b.click && a.probability == b.probability && a.integers == b.integers && a.ids == b.ids;
}

TEST(ClickModelTest, RowDependsOnSeedAndNumberAlone) {
  const ClickModel model, twin;
  for (int64_t i : {int64_t{0}, int64_t{1}, int64_t{599999}, int64_t{1} << 40}) {
    const ClickRow row = model.Row(7, i);
    model.Row(8, 3);
    EXPECT_TRUE(Same(row, twin.Row(7, i)));
    EXPECT_FALSE(Same(row, model.Row(8, i)));
    EXPECT_FALSE(Same(row, model.Row(7, i + 1)));
  }
}

// A change here changes every data set ever generated.
TEST(ClickModelTest, RowsAreThoseOfEveryMachine) {
  const ClickModel model;
  const ClickRow row = model.Row(1, 12345);
  constexpr int64_t kNone = ClickRow::kNoInteger;
  EXPECT_THAT(row.integers, ElementsAre(4, 19, kNone, kNone, 1201, 68, 8, 3, 219, kNone, 4, kNone, 43));
  EXPECT_EQ(row.click, false);
  EXPECT_EQ(row.probability, 0x1.c873d55244219p-3);
  EXPECT_EQ(CategoricalToken(0, row.ids[0]), 0x589fd748u);
  EXPECT_EQ(CategoricalToken(2, row.ids[2]), 0x13dc109du);
  EXPECT_EQ(CategoricalToken(23, row.ids[23]), 0x0c53938bu);
}

TEST(ClickModelTest, ProbabilityIsTheLogisticOfTheParts) {
  const ClickModel model;
  for (int64_t i = 0; i < 1000; ++i) {
    const ClickRow row = model.Row(1, i);
    EXPECT_NEAR(row.probability, 1 / (1 + std::exp(-row.first_order - row.interaction)), 1e-14);
  }
}

TEST(ClickModelTest, TokensOfAColumnDiffer) {
  for (int c : {0, 25}) {
    std::set<uint32_t> tokens;
    for (int64_t id = 0; id < 200000; ++id) tokens.insert(CategoricalToken(c, id));
    EXPECT_EQ(tokens.size(), 200000u);
  }
  EXPECT_NE(CategoricalToken(0, 5), CategoricalToken(1, 5));
}

TEST(ClickModelTest, ColumnsKeepThePromisedRanges) {
  ASSERT_EQ(IntegerColumns().size(), static_cast<size_t>(kIntegerColumns));
  ASSERT_EQ(CategoricalColumns().size(), static_cast<size_t>(kCategoricalColumns));
  int64_t smallest = 1 << 30, largest = 0;
  for (const CategoricalColumn& column : CategoricalColumns()) {
    smallest = std::min(smallest, column.vocabulary);
    largest = std::max(largest, column.vocabulary);
    EXPECT_GE(column.exponent, 1.05);
    EXPECT_LE(column.exponent, 1.3);
  }
  EXPECT_EQ(smallest, 3);
  EXPECT_EQ(largest, 1000000);
}

}  // namespace
}  // namespace rowan
