#include "worker/data/text_file.h"

#include <dirent.h>

#include <string>
#include <utility>

#include "common/hash.h"
#include "tests/status_matchers.h"
#include "tests/worker/data/temp_files.h"
#include "worker/data/gunzip.h"

namespace rowan {
namespace {

using ::testing::AllOf;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::NewFolder;
using testing::StatusIs;
using testing::WriteFile;

// Bytes that do not compress well, so that there is something to damage.
std::string Noise(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(RandomBits(7, i));
  return bytes;
}

int EntriesOf(const std::string& folder) {
  DIR* const handle = opendir(folder.c_str());
  int entries = 0;
  while (readdir(handle) != nullptr) ++entries;
  closedir(handle);
  return entries;
}

TEST(TextFileTest, ShowsTheBytesOfAPlainFile) {
  const std::string content = Noise(100'000);
  const auto file = TextFile::Open(WriteFile(NewFolder(), "plain", content));
  ASSERT_OK(file);
  EXPECT_TRUE(file->bytes() == content);
}

TEST(TextFileTest, ShowsAnEmptyFileAsNoBytes) {
  const std::string folder = NewFolder();
  EXPECT_EQ(TextFile::Open(WriteFile(folder, "empty", ""))->bytes(), "");
  EXPECT_EQ(TextFile::Open(WriteFile(folder, "empty.gz", Gzip("")))->bytes(), "");
}

TEST(TextFileTest, StaysValidWhenMoved) {
  const std::string folder = NewFolder();
  TextFile one = *TextFile::Open(WriteFile(folder, "one", "1"));
  TextFile two = *TextFile::Open(WriteFile(folder, "two", "2"));
  two = std::move(one);
  EXPECT_EQ(two.bytes(), "1");
  EXPECT_EQ(two.path(), folder + "/one");
}

TEST(TextFileTest, ShowsTheContentOfAGzipFileWhateverItsName) {
  const std::string content = Noise(3'000'000);
  const std::string folder = NewFolder();
  EXPECT_TRUE(TextFile::Open(WriteFile(folder, "name", Gzip(content)))->bytes() == content);
  EXPECT_EQ(TextFile::Open(WriteFile(folder, "not.gz", "plain"))->bytes(), "plain");
}

TEST(TextFileTest, JoinsGzipMembersAndSkipsPadding) {
  const std::string folder = NewFolder();
  const std::string members = Gzip("one\ntw") + Gzip("") + Gzip("o\n");
  EXPECT_EQ(TextFile::Open(WriteFile(folder, "members", members))->bytes(), "one\ntwo\n");
  EXPECT_EQ(TextFile::Open(WriteFile(folder, "padded", members + std::string(512, '\0')))->bytes(), "one\ntwo\n");
}

TEST(TextFileTest, LeavesNoFileBehind) {
  const std::string folder = NewFolder();
  const std::string temporary = NewFolder();
  const std::string path = WriteFile(folder, "x.gz", Gzip("text"));
  setenv("TMPDIR", temporary.c_str(), 1);
  const auto file = TextFile::Open(path);
  setenv("TMPDIR", "/no/such/folder", 1);
  const auto failed = TextFile::Open(path);
  unsetenv("TMPDIR");
  EXPECT_EQ(file->bytes(), "text");
  EXPECT_EQ(EntriesOf(temporary), 2);  // . and ..
  EXPECT_THAT(failed, StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/folder")));
}

TEST(TextFileTest, NamesFileAndOffsetOfATruncatedGzipFile) {
  const std::string folder = NewFolder();
  const std::string whole = Gzip(Noise(300'000));
  for (const size_t size : {size_t{2}, size_t{9}, size_t{12}, whole.size() / 2, whole.size() - 9, whole.size() - 1}) {
    const std::string path = WriteFile(folder, "cut.gz", whole.substr(0, size));
    EXPECT_THAT(TextFile::Open(path), StatusIs(absl::StatusCode::kDataLoss,
                                               AllOf(HasSubstr(path), HasSubstr(absl::StrCat("at byte ", size)))));
    const std::string second = WriteFile(folder, "second.gz", Gzip("first") + whole.substr(0, size));
    EXPECT_THAT(TextFile::Open(second), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("ends early")));
  }
}

TEST(TextFileTest, NoticesEveryDamagedByteOfAGzipFileThatMatters) {
  const std::string folder = NewFolder();
  const std::string whole = Gzip(Noise(100'000));
  // The checksum covers neither the header (bytes 0 to 9) nor the padding before incompressible bytes (in byte 10).
  for (size_t at = 11; at < whole.size(); at += whole.size() / 40 + 1) {
    std::string damaged = whole;
    damaged[at] ^= 0x10;
    const std::string path = WriteFile(folder, "damaged.gz", damaged);
    EXPECT_THAT(TextFile::Open(path),
                StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr(path), HasSubstr(" byte "))))
        << at;
  }
  const std::string path = WriteFile(folder, "tail.gz", whole + "tail");
  EXPECT_THAT(TextFile::Open(path), StatusIs(absl::StatusCode::kDataLoss,
                                             HasSubstr(absl::StrCat("not gzip any more at byte ", whole.size()))));
}

TEST(TextFileTest, NamesWhatCannotBeOpened) {
  EXPECT_THAT(TextFile::Open("/no/such/file"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/file")));
  const std::string folder = NewFolder();
  EXPECT_THAT(TextFile::Open(folder), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(folder)));
}

}  // namespace
}  // namespace rowan
