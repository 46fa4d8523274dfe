// The command line of every program of the project: what is legal, and one clear line about what is not.
//
// Flags are abseil's (ABSL_FLAG, absl::GetFlag), their rules are in common/flag_rules.h; the command line is parsed
// here, never by absl::ParseCommandLine. A program has one unnamed command, or several named ones ("train",
// "snapshot create"); each lists the flags that are legal for it, so that a flag linked in by some library is not.
//
// Forms: --flag=value, --flag value, --boolflag, --noboolflag, -- (what follows is no flag), and one dash for two.
// Flags may stand before, between and after the words. A value that itself begins with -- needs the = form.
// --flagfile=PATH reads a file of lines --flag=value, --boolflag or --noboolflag; empty lines and lines beginning with
// # are skipped. The command line overrides the file. No flag may be repeated within either.
// --help (-h) anywhere describes the program or the command, --version tells the version.
//
//   const auto* program = new rowan::Program{
//       "rowan-ctr", "the click-through-rate example",
//       {{"train", "trains a model", {{"Data", {"data", "batch_size"}}, rowan::LogFlags()}},
//        {"predict", "scores samples", {{"Data", {"data", "out"}}, rowan::LogFlags()}, /*required=*/{"data"}}}};
//   const rowan::CommandLine line = rowan::ParseFlagsOrExit(*program, argc, argv);
//   if (line.command == "train") return Train();
//
// Call it from main(), before any thread is made.
#ifndef ROWAN_COMMON_FLAGS_H_
#define ROWAN_COMMON_FLAGS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/version.h"

namespace rowan {

// A heading of --help and the flags below it. Every name must be that of an ABSL_FLAG.
struct FlagGroup {
  std::string title;
  std::vector<std::string> flags;
};

struct Command {
  std::string name;     // One or more words; empty for a program without commands.
  std::string summary;  // One line, no full stop.
  std::vector<FlagGroup> flags = {};
  std::vector<std::string> required = {};  // Those flags that must be given.
  std::string arguments = {};              // What --help calls the positional arguments, "KEY...".
  int min_arguments = 0;                   // How many of them there must be,
  int max_arguments = 0;                   // and may be.
};

struct Program {
  std::string name;
  std::string summary;  // One line, no full stop.
  std::vector<Command> commands;
  std::string version = kVersion;
};

struct CommandLine {
  std::string command;                 // The name of the Command.
  std::vector<std::string> arguments;  // What is neither flag nor command.
  std::set<std::string> given;         // The flags set by the command line or a flag file.
  std::string answer;                  // Not empty: --help or --version; print it, do nothing else. Ends in a newline.
};

// Parses `argv` (without the program's name) and sets the flags. On an error, which is InvalidArgument with a message
// of one line that names flag, value and what would be legal, no flag has changed. Dies if `program` names a flag that
// does not exist.
absl::StatusOr<CommandLine> ParseFlags(const Program& program, absl::Span<const char* const> argv);

// The same for a main(): an error is printed to stderr and exits 2, an answer is printed to stdout and exits 0.
CommandLine ParseFlagsOrExit(const Program& program, int argc, const char* const* argv);

// Prints "rowan-ctr train: message" to stderr and returns 2, for what only `main` can check of its flags: a missing
// path, two flags that exclude each other. The message names flag, value and what would be legal.
int UsageError(const Program& program, const CommandLine& line, absl::string_view message);

}  // namespace rowan

#endif  // ROWAN_COMMON_FLAGS_H_
