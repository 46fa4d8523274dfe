#include "worker/data/bad_rows.h"

#include <string>
#include <thread>
#include <vector>

#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusIs;

class BadRowsTest : public ::testing::Test {
 protected:
  absl::Status Add(int64_t epoch, int64_t row) {
    return bad_.Add(epoch, row, [&] { return absl::StrCat("a.tsv:", row, ": C1: bad hex"); });
  }

  std::vector<std::string> reports_;
  BadRows bad_{/*rows=*/100, /*job_rows=*/100, /*max_share=*/0.03,
               [this](const std::string& report) { reports_.push_back(report); }};
};

TEST_F(BadRowsTest, ReportsTheFirstOnly) {
  ASSERT_OK(Add(0, 17));
  ASSERT_OK(Add(0, 18));
  ASSERT_OK(Add(1, 19));
  EXPECT_THAT(reports_, ElementsAre("bad row left out: a.tsv:17: C1: bad hex"));
}

// To describe a row its file may be read from the start: nobody else may wait for that.
TEST(BadRowsLockTest, DescribesAndReportsWithoutTheLock) {
  BadRows* self = nullptr;
  int64_t reported = 0, described = 0;
  BadRows bad(/*rows=*/2, /*job_rows=*/2, /*max_share=*/0.5, [&](const std::string&) { reported = self->count(); });
  self = &bad;
  const auto describe = [&] {
    std::thread([&] { described = bad.count(); }).join();
    return std::string("x:1");
  };
  EXPECT_OK(bad.Add(0, 1, describe));
  EXPECT_EQ(described, 1);
  EXPECT_EQ(reported, 1);
}

TEST(BadRowsLockTest, ARunThatEndsMeanwhileNamesItsOwnRow) {
  BadRows bad(/*rows=*/2, /*job_rows=*/2, /*max_share=*/0.5, [](const std::string&) {});
  EXPECT_OK(bad.Add(0, 0, [&] {
    EXPECT_THAT(bad.Add(0, 1, [] { return std::string("x:2"); }),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 of 2 rows are bad (100 %), at most 50 %")));
    return std::string("x:1");
  }));
  EXPECT_THAT(bad.Add(0, 1, [] { return std::string("x:2"); }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("first: x:1")));
}

TEST_F(BadRowsTest, FailsAsSoonAsTheShareIsExceeded) {
  for (int64_t row = 1; row <= 3; ++row) ASSERT_OK(Add(0, row));
  EXPECT_THAT(Add(0, 4), StatusIs(absl::StatusCode::kInvalidArgument,
                                  AllOf(HasSubstr("4 of 100 rows are bad (4 %), at most 3 % may be"),
                                        HasSubstr("first: a.tsv:1: C1: bad hex"))));
}

TEST_F(BadRowsTest, CountsARowOncePerEpoch) {
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (int64_t row = 1; row <= 3; ++row) ASSERT_OK(Add(epoch, row));
    }
    EXPECT_EQ(bad_.count(), 3);
  }
}

TEST_F(BadRowsTest, CountsEachEpochFromZero) {
  for (int64_t epoch = 0; epoch < 5; ++epoch) {  // A rank sees other rows in each.
    for (int64_t row = 1; row <= 3; ++row) ASSERT_OK(Add(epoch, 10 * epoch + row));
    EXPECT_EQ(bad_.count(), 3);
  }
}

TEST(BadRowsShareTest, TakesItsLimitsLiterally) {
  const auto quiet = [](const std::string&) {};
  const auto where = [] { return std::string("x:1"); };
  BadRows none(10, 10, 0, quiet);
  EXPECT_FALSE(none.Add(0, 1, where).ok());
  BadRows all(3, 3, 1, quiet);
  for (int64_t row = 0; row < 3; ++row) EXPECT_OK(all.Add(0, row, where));
}

// How many bad rows a rank takes before it ends the run.
int64_t Taken(int64_t rows, int64_t job_rows, double max_share) {
  BadRows bad(rows, job_rows, max_share, [](const std::string&) {});
  int64_t taken = 0;
  while (taken < rows && bad.Add(0, taken, [] { return std::string("x:1"); }).ok()) ++taken;
  return taken;
}

TEST(BadRowsShareTest, ARankOfManyIsNotEndedByChance) {
  EXPECT_EQ(Taken(50, 50 * 256, 0.01), 10);         // 1 would be its share: 0.4 % of such ranks have 5 or more
  EXPECT_EQ(Taken(10000, 10000 * 256, 0.01), 200);  // twice its share
  EXPECT_EQ(Taken(50, 200, 0.01), 2);               // all that the job may have
  EXPECT_EQ(Taken(50, 100, 0.5), 50);               // two ranks, the other one without bad rows
  EXPECT_EQ(Taken(50, 50 * 256, 0), 0);
}

}  // namespace
}  // namespace rowan
