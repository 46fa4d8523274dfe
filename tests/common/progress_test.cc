#include "common/progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"

namespace rowan {
namespace {

// What was written to the other end of `fd` and not read yet.
std::string ReadAll(int fd) {
  char buffer[4096];
  const ssize_t n = read(fd, buffer, sizeof(buffer));
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
}

class ProgressTest : public ::testing::Test {
 protected:
  void TearDown() override {
    close(ours_);
    close(options_.fd);
  }
  void UsePipe() {
    int fds[2];
    ASSERT_EQ(pipe2(fds, O_NONBLOCK), 0);
    ours_ = fds[0];
    options_.fd = fds[1];
  }
  void UseTerminal(unsigned short columns) {
    setenv("TERM", "xterm", 1);
    ours_ = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    ASSERT_GE(ours_, 0);
    ASSERT_EQ(grantpt(ours_), 0);
    ASSERT_EQ(unlockpt(ours_), 0);
    options_.fd = open(ptsname(ours_), O_RDWR | O_NOCTTY);
    ASSERT_GE(options_.fd, 0);
    termios settings;
    ASSERT_EQ(tcgetattr(options_.fd, &settings), 0);
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    ASSERT_EQ(tcsetattr(options_.fd, TCSANOW, &settings), 0);
    const winsize size = {24, columns, 0, 0};
    ASSERT_EQ(ioctl(options_.fd, TIOCSWINSZ, &size), 0);
  }
  ProgressLine::Options Options() {
    options_.clock = &clock_;
    return options_;
  }
  std::string Written() { return ReadAll(ours_); }

  FakeClock clock_;

 private:
  int ours_ = -1;
  ProgressLine::Options options_;
};

TEST_F(ProgressTest, PlainLinesKeepTheirInterval) {
  UsePipe();
  ProgressLine progress(Options());
  EXPECT_FALSE(progress.live());
  EXPECT_TRUE(progress.Due());
  progress.Update("step 1");
  EXPECT_EQ(Written(), "step 1\n");
  clock_.Advance(absl::Milliseconds(9999));
  EXPECT_FALSE(progress.Due());
  progress.Update("step 2");
  EXPECT_EQ(Written(), "");
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_TRUE(progress.Due());
  progress.Update("step 3");
  EXPECT_EQ(Written(), "step 3\n");
  progress.Finish("done");
  EXPECT_EQ(Written(), "done\n");
}

TEST_F(ProgressTest, PlainLinesAreNeitherBrokenNorClipped) {
  UsePipe();
  ProgressLine progress(Options());
  progress.Update("a\nb\r" + std::string(300, 'x'));
  EXPECT_EQ(Written(), "a b " + std::string(300, 'x') + "\n");
}

TEST_F(ProgressTest, TerminalLineIsRewritten) {
  UseTerminal(80);
  {
    ProgressLine progress(Options());
    EXPECT_TRUE(progress.live());
    progress.Update("step 1");
    EXPECT_EQ(Written(), "\rstep 1\x1b[K");
    clock_.Advance(absl::Milliseconds(199));
    progress.Update("step 2");
    EXPECT_EQ(Written(), "");
    clock_.Advance(absl::Milliseconds(1));
    progress.Update("step 3");
    EXPECT_EQ(Written(), "\rstep 3\x1b[K");
    progress.Finish("done");
    EXPECT_EQ(Written(), "\rdone\x1b[K\n");
  }
  EXPECT_EQ(Written(), "");
}

TEST_F(ProgressTest, TerminalLineIsClippedToWholeCharacters) {
  UseTerminal(5);
  ProgressLine progress(Options());
  progress.Finish(
      "1\xc3\xa4"
      "3\xc3\xb6"
      "5");
  EXPECT_EQ(Written(),
            "\r1\xc3\xa4"
            "3\xc3\xb6\x1b[K\n");
}

TEST_F(ProgressTest, UnfinishedTerminalLineIsEnded) {
  UseTerminal(80);
  {
    ProgressLine progress(Options());
    progress.Update("step 1");
    Written();
  }
  EXPECT_EQ(Written(), "\n");
}

TEST_F(ProgressTest, DumbTerminalGetsPlainLines) {
  UseTerminal(80);
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(ProgressLine(Options()).live());
}

TEST_F(ProgressTest, ClosedOutputIsNoError) {
  ProgressLine::Options options;
  options.fd = -1;
  ProgressLine(options).Finish("done");
}

}  // namespace
}  // namespace rowan
