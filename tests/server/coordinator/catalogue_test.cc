#include "server/coordinator/catalogue.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;

proto::TableSpec TableOf(const std::string& name, uint32_t width) {
  proto::TableSpec spec;
  spec.set_name(name);
  spec.add_slices()->set_width(width);
  return spec;
}

proto::DenseSpec DenseOf(const std::string& name, uint64_t size) {
  proto::DenseSpec spec;
  spec.set_name(name);
  spec.set_size(size);
  return spec;
}

TEST(CatalogueTest, WhoeverComesFirstTellsTheServersAndOthersWait) {
  Catalogue catalogue(/*job_seed=*/1);
  const auto first = catalogue.Begin(TableOf("ads", 4));
  ASSERT_OK(first);
  EXPECT_EQ(first->state, Catalogue::State::kTell);
  EXPECT_EQ(catalogue.Begin(TableOf("ads", 4))->state, Catalogue::State::kBusy);
  catalogue.End(first->table.id(), Catalogue::Told::kAll);
  const auto later = catalogue.Begin(TableOf("ads", 4));
  EXPECT_EQ(later->state, Catalogue::State::kOpen);
  EXPECT_EQ(later->table.id(), first->table.id());
  EXPECT_NE(later->table.table().seed(), 0u);
}

TEST(CatalogueTest, OpeningThatFailedGoesOnUnderTheSameId) {
  Catalogue catalogue(/*job_seed=*/1);
  const auto first = catalogue.Begin(DenseOf("tower", 9));
  ASSERT_OK(first);
  catalogue.End(first->table.id(), Catalogue::Told::kSome);
  ASSERT_OK(catalogue.Begin(TableOf("ads", 4)));
  const auto again = catalogue.Begin(DenseOf("tower", 9));
  ASSERT_OK(again);
  EXPECT_EQ(again->state, Catalogue::State::kTell);
  EXPECT_EQ(again->table.id(), first->table.id());
  EXPECT_EQ(again->table.dense().seed(), first->table.dense().seed());
}

TEST(CatalogueTest, TableThatNobodyTookIsForgotten) {
  Catalogue catalogue(/*job_seed=*/1);
  const auto first = catalogue.Begin(TableOf("ads", 4));
  catalogue.End(first->table.id(), Catalogue::Told::kNone);
  EXPECT_TRUE(catalogue.empty());
  const auto again = catalogue.Begin(TableOf("ads", 5));
  ASSERT_OK(again);
  EXPECT_NE(again->table.id(), first->table.id());
}

TEST(CatalogueTest, ServerThatComesMeanwhileLearnsOfTablesBeingOpened) {
  Catalogue catalogue(/*job_seed=*/1);
  ASSERT_OK(catalogue.Begin(TableOf("ads", 4)));
  ASSERT_OK(catalogue.Begin(DenseOf("ads", 4)));  // Another kind, another name.
  ASSERT_EQ(catalogue.All().size(), 2u);
  EXPECT_EQ(catalogue.All()[0].id(), 1u);
  EXPECT_EQ(catalogue.All()[0].table().name(), "ads");
  EXPECT_EQ(catalogue.All()[1].dense().size(), 4u);
}

TEST(CatalogueTest, WrongSpecTakesNothing) {
  Catalogue catalogue(/*job_seed=*/1);
  EXPECT_THAT(catalogue.Begin(TableOf("ads", 0)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ads")));
  EXPECT_TRUE(catalogue.empty());
  ASSERT_OK(catalogue.Begin(TableOf("ads", 4)));
  EXPECT_THAT(catalogue.Begin(TableOf("ads", 5)), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("ads")));
}

TEST(CatalogueTest, TablesOfASnapshotKeepTheirIds) {
  Catalogue catalogue(/*job_seed=*/1);
  proto::SnapshotTable stored;
  stored.set_id(17);
  stored.set_rows(1000);
  *stored.mutable_table() = TableOf("ads", 4);
  stored.mutable_table()->set_seed(5);
  catalogue.Adopt(stored);
  const auto opened = catalogue.Begin(TableOf("ads", 4));
  ASSERT_OK(opened);
  EXPECT_EQ(opened->state, Catalogue::State::kOpen);
  EXPECT_EQ(opened->table.id(), 17u);
  EXPECT_EQ(opened->table.table().seed(), 5u);
  EXPECT_EQ(opened->table.rows(), 0u);
  EXPECT_EQ(catalogue.Begin(TableOf("users", 4))->table.id(), 18u);
}

}  // namespace
}  // namespace rowan
