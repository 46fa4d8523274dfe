#include "common/flag_help.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "absl/flags/reflection.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "common/flag_rules.h"
#include "glog/logging.h"

namespace rowan {
namespace {

constexpr size_t kHelpWidth = 100;

std::string KindOf(const absl::CommandLineFlag& flag) {
  if (flag.IsOfType<bool>()) return "true or false";
  if (flag.IsOfType<float>() || flag.IsOfType<double>()) return "a number";
  if (flag.IsOfType<int32_t>() || flag.IsOfType<int64_t>()) return "an integer";
  if (flag.IsOfType<uint32_t>() || flag.IsOfType<uint64_t>()) return "an integer, not negative";
  if (flag.IsOfType<absl::Duration>()) return "a duration such as 90s or 1h30m";
  return "";
}

// `text` broken into lines at spaces, each after `indent` spaces.
std::string Wrapped(absl::string_view text, size_t indent) {
  std::string out;
  size_t column = kHelpWidth;
  for (const absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    if (column + 1 + word.size() > kHelpWidth) {
      absl::StrAppend(&out, out.empty() ? "" : "\n", std::string(indent, ' '), word);
      column = indent + word.size();
    } else {
      absl::StrAppend(&out, " ", word);
      column += 1 + word.size();
    }
  }
  return absl::StrCat(out, "\n");
}

std::string FlagHelp(const Command& command, const std::string& name) {
  const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  CHECK(flag != nullptr) << "command '" << command.name << "' lists --" << name << ", which does not exist";
  const std::string legal = LegalValues(*flag);
  const bool required = std::find(command.required.begin(), command.required.end(), name) != command.required.end();
  std::string about = flag->Help();
  if (!legal.empty() && !flag->IsOfType<bool>()) absl::StrAppend(&about, " Must be ", legal, ".");
  if (required) return absl::StrCat("  --", name, "  (required)\n", Wrapped(about, 6));
  const std::string value = flag->DefaultValue();
  return absl::StrCat("  --", name, "=", value.empty() ? "\"\"" : OneLine(value), "\n", Wrapped(about, 6));
}

std::string Title(const Program& program, const Command& command) {
  return command.name.empty() ? program.name : absl::StrCat(program.name, " ", command.name);
}

}  // namespace

std::string LegalValues(const absl::CommandLineFlag& flag) {
  const FlagRule* rule = FindFlagRule(flag.Name());
  return rule == nullptr ? KindOf(flag) : rule->legal;
}

std::string CommandHelp(const Program& program, const Command& command) {
  std::string text =
      absl::StrCat(Title(program, command), ": ", command.summary.empty() ? program.summary : command.summary,
                   "\n\nUsage: ", Title(program, command));
  for (const std::string& name : command.required) absl::StrAppend(&text, " --", name, "=...");
  absl::StrAppend(&text, " [flags]", command.arguments.empty() ? "" : " ", command.arguments, "\n");
  for (const FlagGroup& group : command.flags) {
    absl::StrAppend(&text, "\n", group.title, ":\n");
    for (const std::string& name : group.flags) absl::StrAppend(&text, FlagHelp(command, name));
  }
  absl::StrAppend(&text, "\nGeneral:\n  --flagfile=PATH\n", Wrapped("Read more flags from PATH, one a line.", 6),
                  "  --help, --version\n");
  return text;
}

std::string ProgramHelp(const Program& program) {
  if (program.commands.size() == 1 && program.commands[0].name.empty()) {
    return CommandHelp(program, program.commands[0]);
  }
  std::string text =
      absl::StrCat(program.name, ": ", program.summary, "\n\nUsage: ", program.name, " COMMAND [flags]\n\nCommands:\n");
  size_t width = 0;
  for (const Command& command : program.commands) width = std::max(width, command.name.size());
  for (const Command& command : program.commands) {
    absl::StrAppend(&text, "  ", command.name, std::string(width + 2 - command.name.size(), ' '), command.summary,
                    "\n");
  }
  absl::StrAppend(&text, "\nThe flags of a command: ", program.name, " COMMAND --help\n");
  return text;
}

std::string Nearest(absl::string_view name, const std::vector<std::string>& candidates) {
  const std::string from = absl::StrReplaceAll(name, {{"-", "_"}});
  std::string best;
  size_t fewest = std::max<size_t>(2, from.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    // Levenshtein distance: row[j] is the distance of what was read of `from` to the first j letters of `to`.
    const std::string to = absl::StrReplaceAll(candidate, {{"-", "_"}});
    std::vector<size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 0; i < from.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i + 1;
      for (size_t j = 0; j < to.size(); ++j) {
        const size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
      }
    }
    if (row.back() < fewest) {
      fewest = row.back();
      best = candidate;
    }
  }
  return best;
}

std::string OneLine(absl::string_view value, size_t longest) {
  std::string text = absl::Utf8SafeCEscape(value.substr(0, longest));
  if (text.size() > longest || value.size() > longest) {
    text.resize(std::min(text.size(), longest - 3));
    text += "...";
  }
  return text;
}

}  // namespace rowan
