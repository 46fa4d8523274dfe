#include "worker/data/criteo_layout.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/hash.h"
#include "tests/status_matchers.h"
#include "tests/worker/data/temp_files.h"

namespace rowan {
namespace {

using testing::Gzip;
using ::testing::HasSubstr;
using testing::NewFolder;
using testing::StatusIs;
using testing::WriteFile;

// Rows as of Criteo: counts, some missing, and 8 hexadecimal digits. Without label if `label` is empty.
std::vector<std::string> Fields(uint64_t row, const std::string& label) {
  std::vector<std::string> fields;
  if (!label.empty()) fields.push_back(label);
  for (uint64_t i = 0; i < 13; ++i) {
    const uint64_t bits = RandomBits(row, i);
    fields.push_back(bits % 5 == 0 ? "" : absl::StrCat(bits % 40));
  }
  for (uint64_t i = 13; i < 39; ++i) {
    fields.push_back(absl::StrCat(absl::Hex(RandomBits(row, i) >> 32, absl::kZeroPad8)));
  }
  return fields;
}

CriteoLayout Detect(const std::vector<std::string>& lines) {
  const std::string folder = NewFolder();
  return DetectLayout(*OpenCriteoRows(WriteFile(folder, "x", absl::StrJoin(lines, "\n"))));
}

TEST(CriteoLayoutTest, KnowsAHeader) {
  EXPECT_TRUE(IsCriteoHeader("label\tI1\tI2\tI3\tI4\tI5\tI6\tI7\tI8\tI9\tI10\tI11\tI12\tI13\tC1"));
  EXPECT_TRUE(IsCriteoHeader("I1\tI2\tI3"));
  EXPECT_TRUE(IsCriteoHeader("\"label\"\t\"I1\""));
}

TEST(CriteoLayoutTest, TakesNoRowForAHeader) {
  EXPECT_FALSE(IsCriteoHeader(absl::StrJoin(Fields(1, "0"), "\t")));
  EXPECT_FALSE(IsCriteoHeader(absl::StrJoin(Fields(1, ""), "\t")));
  EXPECT_FALSE(IsCriteoHeader("x\t\t\t17\tx"));
  EXPECT_FALSE(IsCriteoHeader("x\t\t\t\t\t\t\t\t\t\t\t\t\t\tabc"));
  EXPECT_FALSE(IsCriteoHeader("\tx\tx"));
  EXPECT_FALSE(IsCriteoHeader("lone"));
  EXPECT_FALSE(IsCriteoHeader("1.5\tx"));
  EXPECT_FALSE(IsCriteoHeader(""));
}

TEST(CriteoLayoutTest, KnowsLabelledRows) {
  std::vector<std::string> lines;
  for (uint64_t row = 0; row < 50; ++row) lines.push_back(absl::StrJoin(Fields(row, row % 2 ? "1" : "0"), "\t"));
  EXPECT_EQ(Detect(lines), CriteoLayout::kLabelled);
}

TEST(CriteoLayoutTest, KnowsLabelledRowsOfWhichAllLackTheLastField) {
  std::vector<std::string> lines;
  for (uint64_t row = 0; row < 50; ++row) {
    std::vector<std::string> fields = Fields(row, row % 2 ? "1" : "0");
    fields.pop_back();  // 39 fields now.
    lines.push_back(absl::StrJoin(fields, "\t"));
  }
  EXPECT_EQ(Detect(lines), CriteoLayout::kLabelled);
  EXPECT_EQ(Detect({lines[0]}), CriteoLayout::kLabelled);
}

TEST(CriteoLayoutTest, KnowsUnlabelledRows) {
  std::vector<std::string> lines;
  for (uint64_t row = 0; row < 50; ++row) lines.push_back(absl::StrJoin(Fields(row, ""), "\t"));
  EXPECT_EQ(Detect(lines), CriteoLayout::kUnlabelled);
  lines.push_back("garbage");
  lines.push_back(absl::StrJoin(Fields(1, "1"), "\t"));
  EXPECT_EQ(Detect(lines), CriteoLayout::kUnlabelled);
}

TEST(CriteoLayoutTest, KnowsLabelledRowsAmongBadLabels) {
  std::vector<std::string> lines;
  for (uint64_t row = 0; row < 50; ++row) {
    std::vector<std::string> fields = Fields(row, row % 3 ? "1" : "7");
    if (row % 3 == 0) fields.pop_back();  // Good as an unlabelled row.
    lines.push_back(absl::StrJoin(fields, "\t"));
  }
  EXPECT_EQ(Detect(lines), CriteoLayout::kLabelled);
}

TEST(CriteoLayoutTest, TakesRowsForLabelledWithoutEvidence) {
  EXPECT_EQ(Detect({}), CriteoLayout::kLabelled);
  EXPECT_EQ(Detect({"1\t2\t3", "0"}), CriteoLayout::kLabelled);
}

TEST(CriteoLayoutTest, OpensFourPartsOfADirectoryWithoutFinalNewlines) {
  const std::string folder = NewFolder();
  const std::string header = "label\tI1\tI2\n";
  WriteFile(folder, "part-0", header + "0\t1\n1\t2");
  WriteFile(folder, "part-1.gz", Gzip(header + "0\t3"));
  WriteFile(folder, "part-2", "1\t4\n");
  WriteFile(folder, "part-3", "0\t5\r\n1\t6");
  WriteFile(folder, "_SUCCESS", "");
  const auto rows = OpenCriteoRows(folder);
  ASSERT_OK(rows);
  ASSERT_EQ(rows->size(), 6);
  for (int64_t row = 0; row < 6; ++row) EXPECT_EQ(rows->Line(row), absl::StrCat(row % 2, "\t", row + 1));
  EXPECT_EQ(rows->Where(2), folder + "/part-1.gz:2");
}

TEST(CriteoLayoutTest, NamesAFileThatCannotBeOpened) {
  const std::string folder = NewFolder();
  WriteFile(folder, "a", "0\n");
  const std::string cut = WriteFile(folder, "b.gz", Gzip("0\n").substr(0, 15));
  EXPECT_THAT(OpenCriteoRows(folder), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(cut)));
  EXPECT_THAT(OpenCriteoRows(folder + "/c"), StatusIs(absl::StatusCode::kNotFound, HasSubstr(folder + "/c")));
}

}  // namespace
}  // namespace rowan
