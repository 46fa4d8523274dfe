#include "common/flags.h"

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "common/flag_rules.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

ABSL_FLAG(int64_t, batch_size, 2048, "Samples of one step.");
ROWAN_FLAG_RANGE(batch_size, 1, 1 << 20);
ABSL_FLAG(double, learning_rate, 0.05, "Step size.");
ROWAN_FLAG_RANGE(learning_rate, 0.0, 10.0);
ABSL_FLAG(int32_t, threads, 2, "Threads.");
ROWAN_FLAG_RANGE(threads, 1, std::numeric_limits<int32_t>::max());
ABSL_FLAG(std::string, mode, "sync", "What a pull sees.");
ROWAN_FLAG_CHOICES(mode, "sync", "bounded", "async");
ABSL_FLAG(std::string, shuffle, "epoch", "Order of the samples.");
ROWAN_FLAG_CHECK(shuffle, "none, window:N or epoch",
                 [](const std::string& s) { return s == "none" || s == "epoch" || absl::StartsWith(s, "window:"); });
ABSL_FLAG(absl::Duration, lease, absl::Seconds(30), "How long a lease lasts.");
ROWAN_FLAG_RANGE(lease, absl::Seconds(1), absl::Hours(1));
ABSL_FLAG(bool, profile, false, "Prints a table of times.");
ABSL_FLAG(std::string, data, "", "The samples.");
ABSL_FLAG(std::string, out, "", "Where the result goes.");
ABSL_FLAG(std::string, foreign, "", "A flag that some library brought along.");

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Program& Ctr() {
  static const auto* const program =
      new Program{"ctr",
                  "clicks",
                  {{"train",
                    "trains",
                    {{"Data", {"data"}},
                     {"Step", {"batch_size", "learning_rate", "threads", "mode", "shuffle", "lease", "profile"}}}},
                   {"predict", "predicts", {{"Data", {"data", "out"}}}, /*required=*/{"data"}},
                   {"row", "shows rows", {{"Data", {"data"}}}, {}, "TABLE KEY...", 2, 3},
                   {"row set", "changes a row", {}, {}, "TABLE", 1, 1}},
                  "7.0"};
  return *program;
}

const Program& Server() {
  static const auto* const program = new Program{"server", "serves", {{"", "", {{"All", {"threads", "profile"}}}}}};
  return *program;
}

class FlagsTest : public ::testing::Test {
 protected:
  static absl::StatusOr<CommandLine> Parse(const Program& program, const std::vector<const char*>& argv) {
    return ParseFlags(program, argv);
  }
  static std::string ErrorOf(const Program& program, const std::vector<const char*>& argv) {
    const absl::StatusOr<CommandLine> line = ParseFlags(program, argv);
    EXPECT_EQ(line.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(line.status().message());
  }
  static std::string File(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

 private:
  absl::FlagSaver saver_;
};

TEST_F(FlagsTest, TakesEveryForm) {
  ASSERT_OK(Parse(Ctr(),
                  {"--batch_size=64", "train", "--learning_rate", "-0", "--profile", "-mode", "async", "--lease=90s"}));
  EXPECT_EQ(absl::GetFlag(FLAGS_batch_size), 64);
  EXPECT_EQ(absl::GetFlag(FLAGS_learning_rate), 0);
  EXPECT_TRUE(absl::GetFlag(FLAGS_profile));
  EXPECT_EQ(absl::GetFlag(FLAGS_mode), "async");
  EXPECT_EQ(absl::GetFlag(FLAGS_lease), absl::Seconds(90));
  ASSERT_OK(Parse(Ctr(), {"train", "--noprofile"}));
  EXPECT_FALSE(absl::GetFlag(FLAGS_profile));
  ASSERT_OK(Parse(Ctr(), {"train", "--profile=yes"}));
  EXPECT_TRUE(absl::GetFlag(FLAGS_profile));
}

TEST_F(FlagsTest, TellsWhatWasGiven) {
  const auto line = Parse(Ctr(), {"row", "--data=x", "ads", "--", "--7"});
  ASSERT_OK(line);
  EXPECT_EQ(line->command, "row");
  EXPECT_THAT(line->arguments, ElementsAre("ads", "--7"));
  EXPECT_THAT(line->given, ElementsAre("data"));
  EXPECT_THAT(line->answer, IsEmpty());
}

TEST_F(FlagsTest, LongestCommandWins) {
  const auto line = Parse(Ctr(), {"row", "set", "ads"});
  ASSERT_OK(line);
  EXPECT_EQ(line->command, "row set");
  EXPECT_THAT(line->arguments, ElementsAre("ads"));
}

TEST_F(FlagsTest, NamesFlagValueAndRange) {
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--batch_size=0"}),
            "ctr train: --batch_size=0: must be an integer from 1 to 1048576");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--batch_size", "1048577"}),
            "ctr train: --batch_size=1048577: must be an integer from 1 to 1048576");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--batch_size=many"}),
            "ctr train: --batch_size=many: must be an integer from 1 to 1048576");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--threads=0"}), "ctr train: --threads=0: must be an integer of at least 1");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--learning_rate=nan"}),
            "ctr train: --learning_rate=nan: must be a number from 0 to 10");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--mode=Sync"}), "ctr train: --mode=Sync: must be sync, bounded or async");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--shuffle="}), "ctr train: --shuffle=: must be none, window:N or epoch");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--lease=0.5s"}), "ctr train: --lease=0.5s: must be a duration from 1s to 1h");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--profile=maybe"}), "ctr train: --profile=maybe: must be true or false");
}

TEST_F(FlagsTest, RangeEndsAreLegal) {
  EXPECT_OK(Parse(Ctr(), {"train", "--batch_size=1", "--lease=1h"}));
  EXPECT_OK(Parse(Ctr(), {"train", "--batch_size=1048576", "--lease=1s"}));
}

TEST_F(FlagsTest, UnknownFlagNamesTheNearest) {
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--batch-size=3"}),
            "ctr train: --batch-size=3: there is no such flag; the nearest is --batch_size");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--bach_sizes", "3"}),
            "ctr train: --bach_sizes: there is no such flag; the nearest is --batch_size");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--xyzzyxyzzy"}),
            "ctr train: --xyzzyxyzzy: there is no such flag; --help lists them");
}

TEST_F(FlagsTest, FlagsOfLibrariesAndOfAbseilAreUnknown) {
  for (const char* flag : {"--foreign=1", "--undefok=bogus", "--fromenv=data", "--v=1"}) {
    EXPECT_THAT(ErrorOf(Ctr(), {"train", flag}), HasSubstr("no such flag")) << flag;
  }
}

TEST_F(FlagsTest, FlagOfAnotherCommandIsNamedSo) {
  EXPECT_EQ(ErrorOf(Ctr(), {"predict", "--data=x", "--mode=sync"}),
            "ctr predict: --mode=sync: --mode is a flag of train, not of predict");
}

TEST_F(FlagsTest, RefusesRepeatedFlag) {
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--threads=2", "--threads", "3"}),
            "ctr train: --threads=3: --threads is given twice");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--profile", "--noprofile"}), "ctr train: --noprofile: --profile is given twice");
}

TEST_F(FlagsTest, RefusesMissingAndSuperfluousValues) {
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--threads"}),
            "ctr train: --threads: needs a value; it must be an integer of at least 1");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--data", "--profile"}), "ctr train: --data: needs a value");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--noprofile=true"}), "ctr train: --noprofile=true: --noprofile takes no value");
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "--nothreads"}),
            "ctr train: --nothreads: --threads is not a flag of true or false");
}

TEST_F(FlagsTest, RefusesUnexpectedAndMissingArguments) {
  EXPECT_EQ(ErrorOf(Ctr(), {"train", "data.tsv"}), "ctr train: unexpected argument 'data.tsv'; at most 0 may be given");
  EXPECT_EQ(ErrorOf(Server(), {"start"}), "server: unexpected argument 'start'; at most 0 may be given");
  EXPECT_EQ(ErrorOf(Ctr(), {"row", "ads"}), "ctr row: needs TABLE KEY...: at least 2 arguments, not 1");
}

TEST_F(FlagsTest, RefusesWithoutRequiredFlag) {
  EXPECT_EQ(ErrorOf(Ctr(), {"predict"}), "ctr predict: --data is required");
}

TEST_F(FlagsTest, UnknownCommandListsTheCommands) {
  EXPECT_EQ(ErrorOf(Ctr(), {"tain"}), "ctr: 'tain': the command must be train, predict, row or row set");
  EXPECT_EQ(ErrorOf(Ctr(), {}), "ctr: a command is missing; it must be train, predict, row or row set");
}

TEST_F(FlagsTest, ErrorLeavesEveryFlagUntouched) {
  ErrorOf(Ctr(), {"train", "--batch_size=64", "--mode=async", "--threads=0"});
  EXPECT_EQ(absl::GetFlag(FLAGS_batch_size), 2048);
  EXPECT_EQ(absl::GetFlag(FLAGS_mode), "sync");
  EXPECT_EQ(absl::GetFlag(FLAGS_threads), 2);
}

TEST_F(FlagsTest, ErrorIsOneShortLine) {
  const std::string value = "--data" + std::string(1000, 'x') + "\n\r\x01=";
  const std::string error = ErrorOf(Ctr(), {"train", value.c_str()});
  EXPECT_THAT(error, Not(HasSubstr("\n")));
  EXPECT_LT(error.size(), 300);
  EXPECT_THAT(ErrorOf(Ctr(), {"train", "--mode=a\nb"}), HasSubstr("--mode=a\\nb: must be"));
}

TEST_F(FlagsTest, CommandLineOverridesFlagFile) {
  const std::string path =
      File("job.flags", "# a job\n\n--batch_size=32\n  --mode=async  \n--profile\r\n--noprofile_\n");
  EXPECT_THAT(ErrorOf(Ctr(), {"train", "--flagfile", path.c_str()}),
              EndsWith("job.flags:6: --noprofile_: there is no such flag; the nearest is --profile"));
  File("job.flags", "# a job\n\n--batch_size=32\n  --mode=async  \n--profile");
  const auto line = Parse(Ctr(), {"train", "--batch_size=16", ("--flagfile=" + path).c_str()});
  ASSERT_OK(line);
  EXPECT_THAT(line->given, ElementsAre("batch_size", "mode", "profile"));
  EXPECT_EQ(absl::GetFlag(FLAGS_batch_size), 16);
  EXPECT_EQ(absl::GetFlag(FLAGS_mode), "async");
  EXPECT_TRUE(absl::GetFlag(FLAGS_profile));
}

TEST_F(FlagsTest, FlagFileErrorsNameTheLine) {
  const std::string path = File("bad.flags", "--mode=async\n--batch_size=0\n");
  const std::string flag = "--flagfile=" + path;
  EXPECT_EQ(ErrorOf(Ctr(), {"train", flag.c_str()}),
            "ctr train: " + path + ":2: --batch_size=0: must be an integer from 1 to 1048576");
  File("bad.flags", "--mode=async\n--mode=sync\n");
  EXPECT_THAT(ErrorOf(Ctr(), {"train", flag.c_str()}), EndsWith("bad.flags:2: --mode=sync: --mode is given twice"));
  File("bad.flags", "--threads 3\n");
  EXPECT_THAT(ErrorOf(Ctr(), {"train", flag.c_str()}), HasSubstr("bad.flags:1: --threads 3: there is no such flag"));
  File("bad.flags", "--flagfile=bad.flags\n");
  EXPECT_THAT(ErrorOf(Ctr(), {"train", flag.c_str()}), HasSubstr("cannot name another one"));
  EXPECT_THAT(ErrorOf(Ctr(), {"train", "--flagfile=/nonexistent"}),
              EndsWith("--flagfile=/nonexistent: must be a file that can be read"));
  EXPECT_THAT(ErrorOf(Ctr(), {"train", "--flagfile=/"}), EndsWith("--flagfile=/: must be a file that can be read"));
}

TEST_F(FlagsTest, HelpOfACommandListsItsFlagsAlone) {
  for (const std::vector<const char*>& argv :
       {std::vector<const char*>{"train", "--help"}, {"-h", "train"}, {"train", "--bogus", "--help"}}) {
    const auto line = Parse(Ctr(), argv);
    ASSERT_OK(line);
    EXPECT_THAT(
        line->answer,
        AllOf(HasSubstr("Usage: ctr train [flags]"), HasSubstr("\nStep:\n"),
              HasSubstr("  --batch_size=2048\n      Samples of one step. Must be an integer from 1 to 1048576.\n"),
              HasSubstr("  --data=\"\"\n"), Not(HasSubstr("--out")), Not(HasSubstr("foreign")), EndsWith("\n")));
  }
  EXPECT_THAT(Parse(Ctr(), {"predict", "--help"})->answer,
              AllOf(HasSubstr("Usage: ctr predict --data=... [flags]"), HasSubstr("  --data  (required)")));
}

TEST_F(FlagsTest, HelpOfTheProgramListsItsCommands) {
  EXPECT_THAT(Parse(Ctr(), {"--help"})->answer,
              AllOf(HasSubstr("\n  train    trains\n  predict  predicts\n"), Not(HasSubstr("--batch_size"))));
  EXPECT_THAT(Parse(Server(), {"--help"})->answer, AllOf(HasSubstr("server: serves"), HasSubstr("--threads=2")));
}

TEST_F(FlagsTest, VersionIsTold) {
  EXPECT_EQ(Parse(Ctr(), {"--version"})->answer, "ctr 7.0\n");
  EXPECT_EQ(Parse(Server(), {"--version"})->answer, std::string("server ") + kVersion + "\n");
}

TEST_F(FlagsTest, ProgramsExitWithTwoForErrorsAndZeroForHelp) {
  const char* bad[] = {"ctr", "train", "--threads=0"};
  EXPECT_EXIT(ParseFlagsOrExit(Ctr(), 3, bad), ::testing::ExitedWithCode(2),
              "^ctr train: --threads=0: must be an integer of at least 1\n$");
  const char* help[] = {"ctr", "train", "--help"};
  EXPECT_EXIT(ParseFlagsOrExit(Ctr(), 3, help), ::testing::ExitedWithCode(0), "^$");
}

TEST(FlagsDeathTest, ProgramThatListsAFlagItLacksDies) {
  const Program program{"x", "", {{"", "", {{"All", {"no_such_flag_at_all"}}}}}};
  EXPECT_DEATH(ParseFlags(program, {"--no_such_flag_at_all=1"}).IgnoreError(), "no_such_flag_at_all");
}

}  // namespace
}  // namespace rowan
