#include "common/address.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;

TEST(AddressTest, EveryFormIsReadAndWritten) {
  for (const char* text : {"c0:7700", "127.0.0.1:0", "[::1]:65535", "unix:/tmp/a b", "unix:relative"}) {
    const auto address = ParseAddress(text);
    ASSERT_OK(address) << text;
    EXPECT_EQ(address->ToString(), text);
  }
  EXPECT_EQ(ParseAddress("unix:///tmp/x")->path, "/tmp/x");
  EXPECT_EQ(ParseAddress("[::1]:7700")->host, "::1");
  EXPECT_EQ(ParseAddress("[::1]:7700")->port, 7700);
}

TEST(AddressTest, AnythingElseIsNamed) {
  for (const std::string text : {"", "c0", ":7700", "c0:", "c0:x", "c0:65536", "c0:-1", "::1:7700", "[]:1",
                                 "http://c0:7700", "c 0:1", "unix:", "a%2fb:1"}) {
    EXPECT_THAT(ParseAddress(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'" + text + "'"))) << text;
  }
  EXPECT_OK(ParseAddress("unix:" + std::string(107, 'x')));
  EXPECT_THAT(ParseAddress("unix:" + std::string(108, 'x')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1 to 107 bytes")));
}

TEST(AddressTest, ListeningWhereItIsImpossibleSaysWhy) {
  EXPECT_THAT(
      CheckCanListen(*ParseAddress("unix:/no/such/folder/s")),
      StatusIs(absl::StatusCode::kUnavailable, "cannot listen on unix:/no/such/folder/s: No such file or directory"));
  EXPECT_THAT(CheckCanListen(*ParseAddress("192.0.2.1:0")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot listen on 192.0.2.1:0: ")));
  EXPECT_OK(CheckCanListen(*ParseAddress("127.0.0.1:0")));
}

TEST(AddressTest, LeftOverSocketMayBeReplacedAndALiveOneNot) {
  // A short path: that of the test's own folder may have more than 107 bytes.
  char folder[] = "/tmp/rowan-address-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = absl::StrCat(folder, "/s");
  const Address address = *ParseAddress("unix:" + path);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_OK(CheckCanListen(address));
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  EXPECT_THAT(CheckCanListen(address), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(path)));
  close(fd);
  EXPECT_OK(CheckCanListen(address));
  unlink(path.c_str());
  rmdir(folder);
}

}  // namespace
}  // namespace rowan
