#include "common/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string NewFolder() {
  std::string path = absl::StrCat(::testing::TempDir(), "/output-XXXXXX");
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  return path;
}

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// What lies in the folder of `path`, hidden files included.
std::vector<std::string> Names(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path())) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

TEST(OutputFileTest, AppearsWholeWhenItIsFinished) {
  const std::string path = NewFolder() + "/file";
  auto file = OutputFile::Create(path);
  ASSERT_OK(file);
  EXPECT_OK((*file)->Write("one "));
  EXPECT_FALSE(Exists(path));
  EXPECT_OK((*file)->Write(absl::string_view("t\0wo", 4)));
  EXPECT_OK((*file)->Finish());
  EXPECT_EQ(Contents(path), std::string("one t\0wo", 8));
  EXPECT_THAT(Names(path), ElementsAre("file"));
}

TEST(OutputFileTest, UnfinishedLeavesWhatWasThere) {
  const std::string path = NewFolder() + "/file";
  std::ofstream(path) << "old";
  {
    auto file = OutputFile::Create(path);
    ASSERT_OK(file);
    EXPECT_OK((*file)->Write("new"));
  }
  EXPECT_EQ(Contents(path), "old");
  EXPECT_THAT(Names(path), ElementsAre("file"));
}

TEST(OutputFileTest, FilesOfNearbyNamesAreLeftAlone) {
  const std::string path = NewFolder() + "/file";
  for (const char* suffix : {".tmp", ".partial"}) std::ofstream(path + suffix) << "mine";
  auto file = OutputFile::Create(path);
  ASSERT_OK(file);
  EXPECT_OK((*file)->Write("new"));
  EXPECT_OK((*file)->Finish());
  for (const char* suffix : {".tmp", ".partial"}) EXPECT_EQ(Contents(path + suffix), "mine");
}

TEST(OutputFileTest, OfTwoWritersTheLastToFinishHasTheName) {
  const std::string path = NewFolder() + "/file";
  auto first = OutputFile::Create(path), second = OutputFile::Create(path);
  ASSERT_OK(first);
  ASSERT_OK(second);
  EXPECT_OK((*first)->Write("first "));
  EXPECT_OK((*second)->Write("second"));
  EXPECT_OK((*first)->Write("whole"));
  EXPECT_OK((*second)->Finish());
  EXPECT_EQ(Contents(path), "second");
  EXPECT_OK((*first)->Finish());
  EXPECT_EQ(Contents(path), "first whole");
  EXPECT_THAT(Names(path), ElementsAre("file"));
}

TEST(OutputFileTest, TheModeIsThatOfANewFile) {
  const std::string path = NewFolder() + "/file";
  const mode_t before = umask(027);
  auto file = OutputFile::Create(path);
  umask(before);
  ASSERT_OK(file);
  EXPECT_OK((*file)->Finish());
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, mode_t{0640});
}

TEST(OutputFileTest, ANameOfAnyLegalLengthWillDo) {
  const std::string path = NewFolder() + "/" + std::string(255, 'n');
  auto file = OutputFile::Create(path);
  ASSERT_OK(file);
  EXPECT_OK((*file)->Finish());
  EXPECT_TRUE(Exists(path));
}

TEST(OutputFileTest, APipeIsWrittenToAndStays) {
  const std::string path = NewFolder() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_OK(OutputFile::Check(path));
  auto file = OutputFile::Create(path);
  ASSERT_OK(file);
  EXPECT_OK((*file)->Write("text"));
  EXPECT_OK((*file)->Finish());
  char buffer[10];
  EXPECT_EQ(read(reader, buffer, sizeof(buffer)), 4);
  close(reader);
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
}

TEST(OutputFileTest, AFullDiskIsNamed) {
  auto file = OutputFile::Create("/dev/full");
  ASSERT_OK(file);
  EXPECT_THAT((*file)->Write("x"), StatusIs(absl::StatusCode::kResourceExhausted,
                                            StartsWith("/dev/full: cannot write at byte 0: No space")));
}

TEST(OutputFileTest, CheckSaysWhatCreateWouldMeetAndChangesNothing) {
  const std::string folder = NewFolder();
  const std::string file = folder + "/file";
  std::ofstream(file) << "old";
  EXPECT_OK(OutputFile::Check(file));
  EXPECT_OK(OutputFile::Check(folder + "/new"));
  EXPECT_FALSE(Exists(folder + "/new"));
  EXPECT_OK(OutputFile::Check("relative"));
  EXPECT_OK(OutputFile::Check("/dev/null"));
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(OutputFile::Check(folder), StatusIs(kInvalid, AllOf(StartsWith(folder + ": "), HasSubstr("directory"))));
  EXPECT_THAT(OutputFile::Check(folder + "/no/new"),
              StatusIs(kInvalid, HasSubstr("cannot write into " + folder + "/no")));
  EXPECT_THAT(OutputFile::Check(file + "/new"), StatusIs(kInvalid, HasSubstr(file + " is not a directory")));
  EXPECT_THAT(OutputFile::Create(folder + "/no/new"),
              StatusIs(absl::StatusCode::kNotFound, StartsWith(folder + "/no/new: ")));
  EXPECT_EQ(Contents(file), "old");
}

}  // namespace
}  // namespace rowan
