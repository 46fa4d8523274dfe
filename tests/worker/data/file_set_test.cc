#include "worker/data/file_set.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/status_matchers.h"
#include "tests/worker/data/temp_files.h"

namespace rowan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NewFolder;
using testing::StatusIs;
using testing::WriteFile;

// From here on a file's mode counts for this thread even if it is root's.
void GiveUpPrivileges() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  ASSERT_EQ(syscall(SYS_capset, &header, none), 0);
}

class FileSetTest : public ::testing::Test {
 protected:
  FileSetTest() : folder_(NewFolder()), b_(Write("b.tsv")), a_(Write("a.tsv")) {}
  std::string Write(absl::string_view name) { return WriteFile(folder_, name, "x\n"); }

  const std::string folder_;
  const std::string b_;
  const std::string a_;
};

TEST_F(FileSetTest, NamesOneFile) { EXPECT_THAT(*ExpandFiles(a_), ElementsAre(a_)); }

TEST_F(FileSetTest, OrdersAListByNameAndTakesEachFileOnce) {
  EXPECT_THAT(*ExpandFiles(absl::StrCat(b_, ", ", a_, ",", b_, ",")), ElementsAre(a_, b_));
}

TEST_F(FileSetTest, ExpandsGlobs) {
  const std::string other = Write("c.txt");
  EXPECT_THAT(*ExpandFiles(folder_ + "/*.tsv"), ElementsAre(a_, b_));
  EXPECT_THAT(*ExpandFiles(folder_ + "/[bc].t?*," + folder_ + "/a*"), ElementsAre(a_, b_, other));
}

TEST_F(FileSetTest, ExpandsADirectoryToItsVisibleFiles) {
  Write(".hidden");
  Write("_SUCCESS");
  ASSERT_EQ(mkdir((folder_ + "/deeper").c_str(), 0700), 0);
  EXPECT_THAT(*ExpandFiles(folder_), ElementsAre(a_, b_));
  EXPECT_THAT(*ExpandFiles(folder_ + "/"), ElementsAre(a_, b_));
}

TEST_F(FileSetTest, TakesAnExistingPathAsItIs) {
  const std::string comma = Write("a,b");
  const std::string star = Write("*.tsv");
  EXPECT_THAT(*ExpandFiles(comma), ElementsAre(comma));
  EXPECT_THAT(*ExpandFiles(star), ElementsAre(star));
}

TEST_F(FileSetTest, NamesWhatIsMissing) {
  const std::string missing = folder_ + "/no.tsv";
  EXPECT_THAT(ExpandFiles(absl::StrCat(a_, ",", missing)), StatusIs(absl::StatusCode::kNotFound, HasSubstr(missing)));
  EXPECT_THAT(ExpandFiles(folder_ + "/*.gz"),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr(folder_ + "/*.gz"), HasSubstr("no file matches"))));
  const std::string empty = NewFolder();
  WriteFile(empty, "_SUCCESS", "");
  EXPECT_THAT(ExpandFiles(empty),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr(empty), HasSubstr("no files"))));
  EXPECT_THAT(ExpandFiles(""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no files")));
  EXPECT_THAT(ExpandFiles(" ,"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no files")));
}

TEST_F(FileSetTest, NamesWhatCannotBeRead) {
  ASSERT_EQ(symlink((folder_ + "/gone").c_str(), (folder_ + "/link").c_str()), 0);
  EXPECT_THAT(ExpandFiles(folder_), StatusIs(absl::StatusCode::kNotFound, HasSubstr(folder_ + "/link")));
  EXPECT_THAT(ExpandFiles("/dev/null"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/dev/null")));

  ASSERT_EQ(chmod(b_.c_str(), 0), 0);
  GiveUpPrivileges();
  EXPECT_THAT(ExpandFiles(b_), StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(b_)));
  EXPECT_THAT(ExpandFiles(folder_), StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(b_)));
}

}  // namespace
}  // namespace rowan
