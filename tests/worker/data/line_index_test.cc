#include "worker/data/line_index.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "common/hash.h"
#include "tests/status_matchers.h"
#include "tests/worker/data/temp_files.h"

namespace rowan {
namespace {

using ::testing::ElementsAre;
using testing::Gzip;
using testing::NewFolder;
using testing::WriteFile;

// Files part0, part1, ... with `contents`; a line that begins with '#' may be a header.
LineIndex Index(const std::vector<std::string>& contents) {
  const std::string folder = NewFolder();
  std::vector<TextFile> files;
  for (size_t i = 0; i < contents.size(); ++i) {
    files.push_back(*TextFile::Open(WriteFile(folder, absl::StrCat("part", i), contents[i])));
  }
  return LineIndex::Build(std::move(files), [](absl::string_view line) { return absl::StartsWith(line, "#"); });
}

std::vector<std::string> Lines(const LineIndex& index) {
  std::vector<std::string> lines;
  for (int64_t row = 0; row < index.size(); ++row) lines.emplace_back(index.Line(row));
  return lines;
}

std::vector<int64_t> Numbers(const LineIndex& index) {
  std::vector<int64_t> numbers;
  for (int64_t row = 0; row < index.size(); ++row) numbers.push_back(index.Locate(row).line);
  return numbers;
}

TEST(LineIndexTest, HasNoRowsWithoutLines) {
  EXPECT_EQ(Index({}).size(), 0);
  EXPECT_EQ(Index({"", "\n\r\n\n", "\xEF\xBB\xBF", "#header"}).size(), 0);
}

TEST(LineIndexTest, EndsLinesWithNewlineReturnNewlineOrTheFile) {
  EXPECT_THAT(Lines(Index({"a\nb\r\nc"})), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Lines(Index({"a\nb\r"})), ElementsAre("a", "b"));
  EXPECT_THAT(Lines(Index({"a\rb\n"})), ElementsAre("a\rb"));
}

TEST(LineIndexTest, SkipsBlankLinesButCountsThem) {
  const LineIndex index = Index({"\n\r\na\n\n\nb\n\n"});
  EXPECT_THAT(Lines(index), ElementsAre("a", "b"));
  EXPECT_THAT(Numbers(index), ElementsAre(3, 6));
}

TEST(LineIndexTest, SkipsAByteOrderMarkAtTheStartOfEachFileOnly) {
  const LineIndex index =
      Index({"\xEF\xBB\xBF"
             "a\n\xEF\xBB\xBF"
             "b\n",
             "\xEF\xBB\xBF#header\nc\n"});
  EXPECT_THAT(Lines(index), ElementsAre("a",
                                        "\xEF\xBB\xBF"
                                        "b",
                                        "c"));
  EXPECT_THAT(Numbers(index), ElementsAre(1, 2, 2));
}

TEST(LineIndexTest, SkipsAHeaderOnTheFirstLineOfEachFileOnly) {
  const LineIndex index = Index({"#one\na\n#two\n", "\n#three\nb", "c\n#four"});
  EXPECT_THAT(Lines(index), ElementsAre("a", "#two", "b", "c", "#four"));
  EXPECT_THAT(Numbers(index), ElementsAre(2, 3, 3, 1, 2));
}

TEST(LineIndexTest, KeepsNulBytes) {
  const std::string line("a\0b", 3);
  EXPECT_THAT(Lines(Index({line + "\n" + line})), ElementsAre(line, line));
}

TEST(LineIndexTest, KeepsALineOfFiveMegabytes) {
  const std::string line(5'000'000, 'x');
  const LineIndex index = Index({"a\n" + line + "\r\nb\n"});
  ASSERT_EQ(index.size(), 3);
  EXPECT_TRUE(index.Line(1) == line);
  EXPECT_EQ(index.Line(2), "b");
  EXPECT_EQ(index.Locate(2).line, 3);
}

TEST(LineIndexTest, NumbersRowsThroughAllFiles) {
  const LineIndex index = Index({"a\nb", "", "c", "\n", "d\ne\n"});
  EXPECT_THAT(Lines(index), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(index.Locate(2).file.substr(index.Locate(2).file.size() - 6), "/part2");
  EXPECT_TRUE(absl::EndsWith(index.Where(4), "/part4:2")) << index.Where(4);
}

TEST(LineIndexTest, ReadsGzipLikePlain) {
  const std::string text = "#header\r\na\r\n\r\nb";
  const LineIndex plain = Index({text, text});
  const LineIndex packed = Index({Gzip(text), Gzip(text.substr(0, 9)) + Gzip(text.substr(9))});
  EXPECT_EQ(Lines(plain), Lines(packed));
  EXPECT_EQ(Numbers(plain), Numbers(packed));
}

// Against a model that goes byte by byte.
TEST(LineIndexTest, FindsTheRowsOfRandomBytes) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::string text;
    for (uint64_t i = 0; i < RandomBits(seed, 1'000'000) % 200; ++i) text += "\n\r\na#\0"[RandomBits(seed, i) % 7];
    std::vector<std::string> lines;
    std::vector<int64_t> numbers;
    std::string line;
    int64_t number = 1;
    bool first = true;
    const auto end_line = [&] {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!line.empty() && !(first && line[0] == '#')) {
        lines.push_back(line);
        numbers.push_back(number);
      }
      if (!line.empty()) first = false;
      line.clear();
      ++number;
    };
    for (const char c : text) {
      if (c == '\n') {
        end_line();
      } else {
        line += c;
      }
    }
    end_line();
    const LineIndex index = Index({text});
    EXPECT_EQ(Lines(index), lines);
    EXPECT_EQ(Numbers(index), numbers);
  }
}

}  // namespace
}  // namespace rowan
