#include "common/log.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <iostream>
#include <string>

#include "glog/logging.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;

// InitLogging is called once a process: each case is a child that logs, and exits with 0.
void LogAll(const std::string& level, const std::string& to) {
  const Program program{"log_test", "logs", {{"", "", {LogFlags()}}}};
  const std::string level_flag = "--log_level=" + level;
  const std::string to_flag = "--log_to=" + to;
  const absl::StatusOr<CommandLine> line = ParseFlags(program, {level_flag.c_str(), to_flag.c_str()});
  if (!line.ok()) std::cerr << line.status().message() << "\n";
  const absl::Status status = InitLogging("log_test");
  if (!status.ok()) std::cerr << status.message() << "\n";
  VLOG(1) << "a debug";
  LOG(INFO) << "an info";
  LOG(WARNING) << "a warning";
  LOG(ERROR) << "an error";
  google::FlushLogFiles(google::GLOG_INFO);
  std::exit(0);
}

std::string ReadLogs(const std::string& directory, const std::string& severity) {
  std::string text;
  DIR* open = opendir(directory.c_str());
  if (open == nullptr) return "no directory";
  while (const dirent* entry = readdir(open)) {
    const std::string name = entry->d_name;
    if (name.find("log_test.") != 0 || name.find("." + severity + ".") == std::string::npos) continue;
    std::ifstream file(directory + "/" + name);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  closedir(open);
  return text;
}

constexpr auto kExitsZero = 0;

TEST(LogDeathTest, LevelsFilter) {
  EXPECT_EXIT(LogAll("debug", "stderr"), ::testing::ExitedWithCode(kExitsZero),
              "a debug\n.*an info\n.*a warning\n.*an error\n");
  EXPECT_EXIT(LogAll("info", "stderr"), ::testing::ExitedWithCode(kExitsZero),
              "^I[^\n]*an info\n.*a warning\n.*an error\n");
  EXPECT_EXIT(LogAll("warning", "stderr"), ::testing::ExitedWithCode(kExitsZero), "^W[^\n]*a warning\n.*an error\n");
  EXPECT_EXIT(LogAll("error", "stderr"), ::testing::ExitedWithCode(kExitsZero), "^E[^\n]*an error\n");
}

TEST(LogDeathTest, DirectoryIsMadeAndUsed) {
  const std::string directory = ::testing::TempDir() + "/logs";
  EXPECT_EXIT(LogAll("info", directory), ::testing::ExitedWithCode(kExitsZero), "^E[^\n]*an error\n$");
  EXPECT_THAT(ReadLogs(directory, "INFO"), HasSubstr("an info"));
}

TEST(LogTest, UnusableDirectoryIsNamed) {
  const std::string file = ::testing::TempDir() + "/file";
  std::ofstream(file) << "x";
  const Program program{"log_test", "logs", {{"", "", {LogFlags()}}}};
  ASSERT_OK(ParseFlags(program, {"--log_to", file.c_str()}));
  EXPECT_THAT(InitLogging("log_test"),
              StatusIs(absl::StatusCode::kInvalidArgument, "--log_to=" + file + ": must be stderr or a directory"));
  ASSERT_OK(ParseFlags(program, {"--log_to=/no/such/parent"}));
  EXPECT_THAT(InitLogging("log_test"), StatusIs(absl::StatusCode::kInvalidArgument,
                                                "--log_to=/no/such/parent: cannot be made: No such file or directory"));
}

}  // namespace
}  // namespace rowan
