#include "worker/examples/ctr/ctr_dataset.h"

#include <unistd.h>

#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::StartsWith;

std::string WriteRows(const std::string& name, int rows, int fields = 40) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream out(path);
  for (int i = 0; i < rows; ++i) out << (fields == 40 ? "1\t" : "") << "5" << std::string(38, '\t') << "abc\n";
  return path;
}

TEST(CtrDatasetTest, TheLastFifthRoundedDownIsTheTest) {
  for (int rows = 1; rows <= 26; ++rows) {
    const auto split = OpenCtrSplit(WriteRows("rows", rows), "");
    ASSERT_OK(split);
    const int test = rows / 5;
    EXPECT_EQ(split->train.begin, 0);
    EXPECT_EQ(split->train.end, rows - test);
    EXPECT_EQ(split->test.begin, rows - test);
    EXPECT_EQ(split->test.end, rows);
    EXPECT_EQ(split->test.rows(), test);
  }
}

TEST(CtrDatasetTest, TestFilesLeaveAllRowsToTraining) {
  const auto split = OpenCtrSplit(WriteRows("train", 11), WriteRows("test", 3));
  ASSERT_OK(split);
  EXPECT_EQ(split->train.rows(), 11);
  EXPECT_EQ(split->test.rows(), 3);
  EXPECT_EQ(split->test.index->size(), 3);
}

TEST(CtrDatasetTest, AFileIsNotTrainedAndTestedOn) {
  const std::string a = WriteRows("both_a", 5), b = WriteRows("both_b", 5), link = a + ".link";
  ASSERT_EQ(symlink(a.c_str(), link.c_str()), 0);
  const std::string pattern = absl::StrCat(::testing::TempDir(), "/both_?");
  for (const auto& [train, test] : std::vector<std::pair<std::string, std::string>>{
           {a, a}, {pattern, b}, {b, pattern}, {absl::StrCat(b, ",", a), link}}) {
    EXPECT_THAT(OpenCtrSplit(train, test), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("--test_data: ")));
  }
  EXPECT_OK(OpenCtrSplit(a, b));
}

TEST(CtrDatasetTest, ErrorsNameFlagAndFile) {
  const std::string good = WriteRows("good", 3), empty = WriteRows("empty", 0), unlabelled = WriteRows("bare", 3, 39);
  const std::string missing = good + ".missing";
  const struct {
    std::string train, test;
    absl::StatusCode code;
    std::string message;
  } cases[] = {
      {missing, "", absl::StatusCode::kNotFound, absl::StrCat("--data: ", missing, ": ")},
      {good, missing, absl::StatusCode::kNotFound, absl::StrCat("--test_data: ", missing, ": ")},
      {good + "/x", "", absl::StatusCode::kInvalidArgument, absl::StrCat("--data: ", good, "/x: ")},
      {empty, "", absl::StatusCode::kInvalidArgument, absl::StrCat("--data: ", empty, ": no rows")},
      {good, empty, absl::StatusCode::kInvalidArgument, absl::StrCat("--test_data: ", empty, ": no rows")},
      {unlabelled, "", absl::StatusCode::kInvalidArgument, absl::StrCat("--data: ", unlabelled, ": rows of 39 ")},
      {good, unlabelled, absl::StatusCode::kInvalidArgument,
       absl::StrCat("--test_data: ", unlabelled, ": rows of 39 ")},
  };
  for (const auto& c : cases) EXPECT_THAT(OpenCtrSplit(c.train, c.test), StatusIs(c.code, StartsWith(c.message)));
  EXPECT_OK(OpenCtrDataset("data", unlabelled)) << "predict takes them";
}

}  // namespace
}  // namespace rowan
