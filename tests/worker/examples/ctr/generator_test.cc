#include "worker/examples/ctr/generator.h"

#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;

std::string Path(const std::string& name) { return ::testing::TempDir() + "/" + name; }

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The AUC by its definition: every pair compared.
double PairwiseAuc(const std::vector<ClickRow>& rows) {
  double right = 0, pairs = 0;
  for (const ClickRow& a : rows) {
    for (const ClickRow& b : rows) {
      if (!a.click || b.click) continue;
      right += a.probability > b.probability ? 1 : a.probability == b.probability ? 0.5 : 0;
      ++pairs;
    }
  }
  return right / pairs;
}

TEST(GeneratorTest, LinesAreCriteoTsvOfTheModelsRows) {
  ASSERT_OK(WriteRows({/*rows=*/5000, /*seed=*/3, /*threads=*/1}, Path("rows.tsv")));
  const std::string text = Contents(Path("rows.tsv"));
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  ASSERT_EQ(lines.size(), 5001u);
  EXPECT_EQ(lines.back(), "");
  const ClickModel model;
  for (int i = 0; i < 5000; ++i) {
    const ClickRow row = model.Row(3, i);
    const std::vector<std::string> fields = absl::StrSplit(lines[i], '\t');
    ASSERT_EQ(fields.size(), 40u);
    EXPECT_EQ(fields[0], row.click ? "1" : "0");
    for (int j = 0; j < kIntegerColumns; ++j) {
      int64_t value = ClickRow::kNoInteger;
      if (!fields[1 + j].empty()) {
        ASSERT_TRUE(absl::SimpleAtoi(fields[1 + j], &value));
      }
      EXPECT_EQ(value, row.integers[j]);
    }
    for (int c = 0; c < kCategoricalColumns; ++c) {
      const std::string& field = fields[14 + c];
      EXPECT_EQ(field.empty(), row.ids[c] == ClickRow::kNoId);
      if (field.empty()) continue;
      ASSERT_EQ(field.find_first_not_of("0123456789abcdef"), std::string::npos);
      ASSERT_EQ(field.size(), 8u);
      EXPECT_EQ(std::stoul(field, nullptr, 16), CategoricalToken(c, row.ids[c]));
    }
  }
}

TEST(GeneratorTest, ThreadsDoNotChangeTheFile) {
  for (const char* ending : {".tsv", ".tsv.gz"}) {
    const std::string one = Path(std::string("one") + ending), three = Path(std::string("three") + ending);
    auto a = WriteRows({/*rows=*/30001, /*seed=*/5, /*threads=*/1}, one);
    auto b = WriteRows({/*rows=*/30001, /*seed=*/5, /*threads=*/3}, three);
    ASSERT_OK(a);
    ASSERT_OK(b);
    EXPECT_EQ(Contents(one), Contents(three));
    EXPECT_EQ(a->clicks, b->clicks);
    EXPECT_EQ(a->best_auc_all, b->best_auc_all);
  }
}

TEST(GeneratorTest, GzipHoldsThePlainText) {
  ASSERT_OK(WriteRows({/*rows=*/9000, /*seed=*/5, /*threads=*/2}, Path("a.tsv")));
  ASSERT_OK(WriteRows({/*rows=*/9000, /*seed=*/5, /*threads=*/2}, Path("a.tsv.gz")));
  const std::string text = Contents(Path("a.tsv"));
  gzFile file = gzopen(Path("a.tsv.gz").c_str(), "rb");
  std::string inflated(text.size() + 1, '\0');
  EXPECT_EQ(gzread(file, &inflated[0], static_cast<unsigned>(inflated.size())), static_cast<int>(text.size()));
  gzclose(file);
  inflated.pop_back();
  EXPECT_EQ(inflated, text);
}

TEST(GeneratorTest, MoreRowsBeginWithTheFewer) {
  ASSERT_OK(WriteRows({/*rows=*/100, /*seed=*/5, /*threads=*/1}, Path("few.tsv")));
  ASSERT_OK(WriteRows({/*rows=*/5000, /*seed=*/5, /*threads=*/1}, Path("more.tsv")));
  const std::string few = Contents(Path("few.tsv"));
  EXPECT_EQ(Contents(Path("more.tsv")).substr(0, few.size()), few);
}

TEST(GeneratorTest, ReportsTheExactBestAuc) {
  const int64_t n = 4303;
  auto report = WriteRows({n, /*seed=*/9, /*threads=*/2}, Path("auc.tsv"));
  ASSERT_OK(report);
  const ClickModel model;
  std::vector<ClickRow> all, last;
  int64_t clicks = 0;
  for (int64_t i = 0; i < n; ++i) {
    all.push_back(model.Row(9, i));
    clicks += all.back().click;
    if (i >= n - 860) last.push_back(all.back());
  }
  EXPECT_EQ(report->rows, n);
  EXPECT_EQ(report->clicks, clicks);
  EXPECT_NEAR(*report->best_auc_all, PairwiseAuc(all), 1e-12);
  EXPECT_NEAR(*report->best_auc_last_fifth, PairwiseAuc(last), 1e-12);
}

TEST(GeneratorTest, NoRowsMakeAnEmptyFileAndNoAuc) {
  auto report = WriteRows({/*rows=*/0, /*seed=*/1, /*threads=*/2}, Path("none.tsv"));
  ASSERT_OK(report);
  EXPECT_EQ(Contents(Path("none.tsv")), "");
  EXPECT_FALSE(report->best_auc_all.has_value());
  EXPECT_FALSE(report->best_auc_last_fifth.has_value());
}

TEST(GeneratorTest, StoppedMidwayLeavesNoFileAndTheOldOneAlone) {
  const std::string fresh = Path("stopped.tsv"), old = Path("old.tsv");
  ASSERT_OK(WriteRows({/*rows=*/10, /*seed=*/1, /*threads=*/1}, old));
  const std::string before = Contents(old);
  for (const std::string& path : {fresh, old}) {
    int asked = 0;
    EXPECT_THAT(WriteRows({/*rows=*/100000, /*seed=*/1, /*threads=*/2, [&] { return ++asked == 3; }}, path),
                StatusIs(absl::StatusCode::kCancelled, HasSubstr("interrupted")));
    EXPECT_EQ(asked, 3);
  }
  EXPECT_NE(access(fresh.c_str(), F_OK), 0);
  EXPECT_EQ(Contents(old), before);
}

TEST(GeneratorTest, ErrorsNameWhatIsWrong) {
  EXPECT_THAT(WriteRows({/*rows=*/-1, 1, 1}, Path("x")), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-1")));
  EXPECT_THAT(WriteRows({/*rows=*/1, 1, /*threads=*/0}, Path("x")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("threads")));
  EXPECT_THAT(WriteRows({/*rows=*/10, 1, 1}, Path("no/folder")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no/folder")));
  EXPECT_THAT(WriteRows({/*rows=*/10, 1, 1}, "/dev/full"),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("/dev/full")));
}

}  // namespace
}  // namespace rowan
