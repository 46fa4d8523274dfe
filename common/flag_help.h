// The texts of --help, and names for what was mistyped. Used by common/flags.cc alone.
#ifndef ROWAN_COMMON_FLAG_HELP_H_
#define ROWAN_COMMON_FLAG_HELP_H_

#include <string>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/strings/string_view.h"
#include "common/flags.h"

namespace rowan {

// The program with all its commands; for a program without commands, its flags.
std::string ProgramHelp(const Program& program);

// One command: usage, flags in their groups with type, legal values and default.
std::string CommandHelp(const Program& program, const Command& command);

// "a number from 1 to 8", "true or false", "a duration such as 90s": completes "must be ...".
std::string LegalValues(const absl::CommandLineFlag& flag);

// The candidate with the fewest edits from `name`, dashes counting as underscores; empty if none is near.
std::string Nearest(absl::string_view name, const std::vector<std::string>& candidates);

// `value` in one printable line of at most `longest` characters.
std::string OneLine(absl::string_view value, size_t longest = 200);

}  // namespace rowan

#endif  // ROWAN_COMMON_FLAG_HELP_H_
