#include "worker/data/batch_reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/key.h"
#include "tests/status_matchers.h"
#include "tests/worker/data/temp_files.h"
#include "worker/data/criteo_layout.h"
#include "worker/data/prefetcher.h"
#include "worker/data/signed_log.h"

namespace rowan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::NewFolder;
using testing::StatusIs;
using testing::WriteFile;

// Row i: label i%2, I1 = i, C1 = i in decimal digits; bad if is_bad.
std::string Text(int64_t begin, int64_t end, int64_t bad_every = 0) {
  std::string text;
  for (int64_t i = begin; i < end; ++i) {
    const bool bad = bad_every > 0 && i % bad_every == 0;
    absl::StrAppend(&text, i % 2, "\t", bad ? "x" : absl::StrCat(i), std::string(13, '\t'), i, "\n");
  }
  return text;
}

LineIndex Index(absl::string_view text) { return *OpenCriteoRows(WriteFile(NewFolder(), "x.tsv", text)); }

BatchReaderOptions Quiet(double max_bad_share = 0.01) {
  BatchReaderOptions options;
  options.max_bad_share = max_bad_share;
  options.report_bad_row = [](const std::string&) {};
  return options;
}

void ExpectEqual(const Batch& a, const Batch& b) {
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.numbers, b.numbers);
  EXPECT_EQ(a.keys, b.keys);
  EXPECT_EQ(a.rows, b.rows);
}

TEST(BatchReaderTest, ReadsTheRowsItNames) {
  const LineIndex index = Index(Text(0, 100));
  BatchReaderOptions options = Quiet();
  options.batch_size = 16;
  options.window = 100;
  BatchReader reader(&index, options);
  Batch batch;
  ASSERT_TRUE(*reader.Read(0, 2, &batch));
  ASSERT_EQ(batch.size, 16);
  for (int64_t i = 0; i < 16; ++i) {
    const int64_t row = batch.rows[i];
    EXPECT_EQ(batch.labels[i], row % 2);
    EXPECT_EQ(batch.numbers[26 * i], SignedLog(row));
    EXPECT_EQ(batch.Keys(0)[i], Key("C1", absl::StrCat(row)));
    EXPECT_EQ(batch.Keys(25)[i], Key("C26", ""));
  }
}

TEST(BatchReaderTest, ReadsEachRowOnceAnEpochForAnyNumberOfRanks) {
  const LineIndex index = Index(Text(0, 237));
  for (int num_ranks = 1; num_ranks <= 5; ++num_ranks) {
    for (const int64_t batch_size : {1, 3, 64, 237, 1000}) {
      for (const int64_t window : {0, 50, 1000}) {
        std::vector<int> times(237);
        for (int rank = 0; rank < num_ranks; ++rank) {
          BatchReaderOptions options = Quiet();
          options.seed = 9;
          options.window = window;
          options.batch_size = batch_size;
          options.rank = rank;
          options.num_ranks = num_ranks;
          BatchReader reader(&index, options);
          Batch batch;
          int64_t step = 0;
          while (*reader.Read(1, step, &batch)) {
            for (const int64_t row : batch.rows) ++times[row];
            ++step;
          }
          EXPECT_EQ(batch.size, 0);
          EXPECT_EQ(step, reader.steps());  // Ranks without rows take as many steps.
        }
        EXPECT_THAT(times, ::testing::Each(1)) << num_ranks << " ranks, batch " << batch_size << ", window " << window;
      }
    }
  }
}

TEST(BatchReaderTest, TheRanksTogetherReadWhatOneRankReads) {
  const LineIndex index = Index(Text(0, 100));
  BatchReaderOptions options = Quiet();
  options.batch_size = 30;
  options.window = 100;
  BatchReader whole(&index, options);
  Batch all, part;
  for (int64_t step = 0; step < 4; ++step) {
    ASSERT_OK(whole.Read(0, step, &all));
    std::vector<int64_t> rows;
    for (options.rank = 0, options.num_ranks = 4; options.rank < 4; ++options.rank) {
      ASSERT_OK(BatchReader(&index, options).Read(0, step, &part));
      rows.insert(rows.end(), part.rows.begin(), part.rows.end());
    }
    EXPECT_EQ(rows, all.rows);
  }
}

TEST(BatchReaderTest, ReadsTheSameBatchAgainInAnyOrder) {
  const LineIndex index = Index(Text(0, 100));
  BatchReaderOptions options = Quiet();
  options.batch_size = 8;
  options.window = 100;
  BatchReader reader(&index, options);
  Batch first, again, other;
  ASSERT_OK(reader.Read(2, 5, &first));
  ASSERT_OK(reader.Read(0, 12, &again));
  EXPECT_EQ(again.size, 4);  // The last, smaller batch.
  ASSERT_OK(reader.Read(3, 5, &other));
  EXPECT_NE(other.rows, first.rows);
  ASSERT_OK(reader.Read(2, 5, &again));
  ExpectEqual(first, again);
}

TEST(BatchReaderTest, StaysWithinItsRows) {
  const LineIndex index = Index(Text(0, 100));
  BatchReaderOptions options = Quiet();
  options.first_row = 40;
  options.end_row = 80;
  options.window = 1000;
  BatchReader reader(&index, options);
  Batch batch;
  ASSERT_OK(reader.Read(0, 0, &batch));
  std::vector<int64_t> rows = batch.rows;
  std::sort(rows.begin(), rows.end());
  ASSERT_EQ(rows.size(), 40u);
  EXPECT_EQ(rows.front(), 40);
  EXPECT_EQ(rows.back(), 79);
}

TEST(BatchReaderTest, HasNoStepsWithoutRows) {
  const LineIndex index = Index("");
  BatchReader reader(&index, Quiet());
  Batch batch;
  EXPECT_EQ(reader.steps(), 0);
  EXPECT_FALSE(*reader.Read(0, 0, &batch));
  std::vector<bool> bad;
  ASSERT_OK(reader.ReadRange(0, 0, &batch, &bad));
  EXPECT_EQ(batch.size, 0);
}

TEST(BatchReaderTest, LeavesOutBadRowsAndReportsTheFirst) {
  const LineIndex index = Index("label\tI1\n" + Text(0, 10, 5));
  std::vector<std::string> reports;
  BatchReaderOptions options = Quiet(0.2);
  options.report_bad_row = [&](const std::string& report) { reports.push_back(report); };
  BatchReader reader(&index, options);
  Batch batch;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    ASSERT_TRUE(*reader.Read(epoch, 0, &batch));
    EXPECT_THAT(batch.rows, ElementsAre(1, 2, 3, 4, 6, 7, 8, 9));
    EXPECT_EQ(batch.keys.size(), 8u * 26);
    EXPECT_EQ(batch.Keys(0)[7], Key("C1", "9"));
    EXPECT_EQ(reader.epoch_bad_rows().count(), 2);
  }
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_THAT(reports[0], HasSubstr("x.tsv:2: I1: bad integer \"x\""));
}

TEST(BatchReaderTest, FailsWhenTooManyRowsAreBad) {
  const LineIndex index = Index(Text(0, 100, 20));  // 0, 20, 40, 60, 80
  BatchReaderOptions options = Quiet(0.04);
  options.batch_size = 10;
  BatchReader reader(&index, options);
  Batch batch;
  for (int64_t step = 0; step < 8; ++step) ASSERT_TRUE(*reader.Read(0, step, &batch)) << step;
  EXPECT_THAT(reader.Read(0, 8, &batch),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("5 of 100 rows are bad"), HasSubstr("x.tsv:1: I1: bad integer \"x\""))));
}

TEST(BatchReaderTest, MeasuresTheShareByTheRowsOfTheJob) {
  const LineIndex index = Index(Text(0, 100, 2));  // Every second one.
  BatchReaderOptions options = Quiet(0.2);         // 20 of all, of which one rank may meet 10
  options.batch_size = 4;
  options.num_ranks = 4;
  options.rank = 1;  // Good rows only.
  BatchReader good(&index, options);
  options.rank = 2;
  BatchReader bad(&index, options);
  Batch batch;
  for (int64_t step = 0; step < 25; ++step) ASSERT_OK(good.Read(0, step, &batch));
  for (int64_t step = 0; step < 10; ++step) ASSERT_OK(bad.Read(0, step, &batch));
  EXPECT_THAT(bad.Read(0, 10, &batch),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("11 of 25 rows are bad (44 %), at most 20 % of the job's 100 may be")));
}

TEST(BatchReaderTest, ReadsRangesInOrderAndMarksBadRows) {
  const LineIndex index = Index(Text(0, 10, 3));  // 0, 3, 6, 9
  BatchReader reader(&index, Quiet(1));
  Batch batch;
  std::vector<bool> bad;
  for (int repeat = 0; repeat < 3; ++repeat) {
    ASSERT_OK(reader.ReadRange(2, 7, &batch, &bad));
    EXPECT_THAT(batch.rows, ElementsAre(2, 4, 5));
    EXPECT_THAT(bad, ElementsAre(false, true, false, false, true));
    EXPECT_EQ(reader.range_bad_rows().count(), 2);
    EXPECT_EQ(reader.epoch_bad_rows().count(), 0);
  }
  BatchReader strict(&index, Quiet(0.3));
  EXPECT_THAT(strict.ReadRange(0, 10, &batch, &bad),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("4 of 10 rows are bad")));
}

TEST(BatchReaderTest, ReadsRowsWithoutLabels) {
  const std::string labelled = Text(0, 20);
  std::string unlabelled;
  for (const char* line = labelled.c_str(); *line != '\0';) {
    const std::string one(line, std::strchr(line, '\n') + 1);
    unlabelled += one.substr(2);
    line += one.size();
  }
  const LineIndex with = Index(labelled), without = Index(unlabelled);
  BatchReaderOptions options = Quiet();
  Batch a, b;
  std::vector<bool> bad;
  ASSERT_OK(BatchReader(&with, options).ReadRange(0, 20, &a, &bad));
  options.layout = CriteoLayout::kUnlabelled;
  ASSERT_OK(BatchReader(&without, options).ReadRange(0, 20, &b, &bad));
  EXPECT_EQ(a.numbers, b.numbers);
  EXPECT_EQ(a.keys, b.keys);
  EXPECT_THAT(b.labels, ::testing::Each(0));
}

// However the same rows lie in files, the batches are the same.
TEST(BatchReaderTest, ReadsTheSameFromAnyPackagingOfTheSameRows) {
  const std::string text = Text(0, 200);
  const LineIndex plain = Index(text);
  std::string crlf = "\xEF\xBB\xBFlabel\tI1\tI2\r\n\r\n";
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const std::string folder = NewFolder();
  WriteFile(folder, "0", Text(0, 50));
  WriteFile(folder, "1", Text(50, 51).substr(0, Text(50, 51).size() - 1));  // No final newline.
  WriteFile(folder, "2", Gzip(Text(51, 90)) + Gzip(Text(90, 199)));
  WriteFile(folder, "3", "");
  WriteFile(folder, "4", "\n" + Text(199, 200) + "\n\n");
  for (const LineIndex& packed : {Index(Gzip(text)), Index(crlf), *OpenCriteoRows(folder)}) {
    ASSERT_EQ(packed.size(), 200);
    BatchReaderOptions options = Quiet();
    options.batch_size = 64;
    options.window = 200;
    BatchReader expected(&plain, options), reader(&packed, options);
    Batch a, b;
    for (int64_t step = 0; step < 4; ++step) {
      ASSERT_OK(expected.Read(0, step, &a));
      ASSERT_OK(reader.Read(0, step, &b));
      ExpectEqual(a, b);
    }
  }
}

TEST(BatchReaderTest, ReadsAroundALineOfFiveMegabytes) {
  const LineIndex index = Index(Text(0, 5) + std::string(5'000'000, 'a') + "\n" + Text(5, 10));
  BatchReader reader(&index, Quiet(0.1));
  Batch batch;
  ASSERT_OK(reader.Read(0, 0, &batch));
  EXPECT_THAT(batch.rows, ElementsAre(0, 1, 2, 3, 4, 6, 7, 8, 9, 10));
}

TEST(BatchReaderTest, ReadsAheadWhatItReadsDirectly) {
  const LineIndex index = Index(Text(0, 1000, 100));
  BatchReaderOptions options = Quiet(0.02);
  options.batch_size = 33;
  options.window = 1000;
  BatchReader reader(&index, options);
  const auto epochs = [&reader](int64_t epoch, int64_t step) {
    return [&reader, epoch, step](Batch* batch) mutable -> absl::StatusOr<bool> {
      if (step == reader.steps()) step = 0, ++epoch;
      if (epoch == 3) return false;
      return reader.Read(epoch, step++, batch);
    };
  };
  Prefetcher<Batch> prefetcher(epochs(0, 0));
  auto direct = epochs(0, 0);
  Batch a, b;
  int64_t batches = 0;
  while (*prefetcher.Get(&a)) {
    ASSERT_TRUE(*direct(&b));
    ExpectEqual(a, b);
    ++batches;
  }
  EXPECT_FALSE(*direct(&b));
  EXPECT_EQ(batches, 3 * 31);
}

}  // namespace
}  // namespace rowan
