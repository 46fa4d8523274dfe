#include "common/flags.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "absl/flags/commandlineflag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/flag_help.h"
#include "common/flag_rules.h"
#include "common/flag_words.h"
#include "common/status_macros.h"

namespace rowan {
namespace {

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

bool Contains(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> FlagsOf(const Command& command) {
  std::vector<std::string> names;
  for (const FlagGroup& group : command.flags) names.insert(names.end(), group.flags.begin(), group.flags.end());
  return names;
}

std::vector<std::string> FlagsOf(const Program& program) {
  std::vector<std::string> names;
  for (const Command& command : program.commands) {
    for (std::string& name : FlagsOf(command)) {
      if (!Contains(names, name)) names.push_back(std::move(name));
    }
  }
  return names;
}

std::vector<std::string> WordsOf(const Command& command) {
  return absl::StrSplit(command.name, ' ', absl::SkipEmpty());
}

// The command with the most words that `words` begins with, nullptr if there is none.
const Command* FindCommand(const Program& program, const std::vector<std::string>& words) {
  const Command* best = nullptr;
  for (const Command& command : program.commands) {
    const std::vector<std::string> name = WordsOf(command);
    if (name.size() > words.size() || !std::equal(name.begin(), name.end(), words.begin())) continue;
    if (best == nullptr || name.size() > WordsOf(*best).size()) best = &command;
  }
  return best;
}

absl::Status NoCommand(const Program& program, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const Command& command : program.commands) names.push_back(command.name);
  const std::string commands = flags_internal::AnyOf(names);
  if (words.empty()) return Error("a command is missing; it must be ", commands);
  return Error("'", OneLine(words[0]), "': the command must be ", commands);
}

absl::Status CheckArguments(const Command& command, const std::vector<std::string>& arguments) {
  const auto count = static_cast<int64_t>(arguments.size());
  if (count > command.max_arguments) {
    return Error("unexpected argument '", OneLine(arguments[command.max_arguments]), "'; at most ",
                 command.max_arguments, " may be given");
  }
  if (count < command.min_arguments) {
    return Error("needs ", command.arguments, ": at least ", command.min_arguments, " arguments, not ", count);
  }
  return absl::OkStatus();
}

absl::Status CheckRequired(const Command& command, const CommandLine& line) {
  for (const std::string& name : command.required) {
    if (line.given.count(name) > 0) continue;
    const std::string legal = LegalValues(FlagOrDie(name));
    return Error("--", name, " is required", legal.empty() ? "" : "; it must be ", legal);
  }
  return absl::OkStatus();
}

absl::Status Apply(const FlagSetting& setting) {
  absl::CommandLineFlag& flag = FlagOrDie(setting.name);
  const FlagRule* rule = FindFlagRule(setting.name);
  std::string error;
  if (flag.ParseFrom(setting.value, &error) && (rule == nullptr || rule->holds(flag))) return absl::OkStatus();
  const std::string legal = LegalValues(flag);
  return Error(setting.shown, ": ", legal.empty() ? OneLine(error) : absl::StrCat("must be ", legal));
}

absl::Status CheckLegal(const Program& program, const Command& command, const FlagSetting& setting) {
  if (Contains(FlagsOf(command), setting.name)) return absl::OkStatus();
  std::vector<std::string> owners;
  for (const Command& other : program.commands) {
    if (Contains(FlagsOf(other), setting.name)) owners.push_back(other.name);
  }
  return Error(setting.shown, ": --", setting.name, " is a flag of ", flags_internal::AnyOf(owners), ", not of ",
               command.name);
}

absl::StatusOr<CommandLine> ParseCommand(const Program& program, const Command& command, const FlagWords& words) {
  CommandLine line;
  line.command = command.name;
  line.arguments.assign(words.words().begin() + WordsOf(command).size(), words.words().end());
  const std::vector<FlagSetting> settings = words.settings();
  for (const FlagSetting& setting : settings) {
    ROWAN_RETURN_IF_ERROR(CheckLegal(program, command, setting));
    line.given.insert(setting.name);
  }
  ROWAN_RETURN_IF_ERROR(CheckArguments(command, line.arguments));
  ROWAN_RETURN_IF_ERROR(CheckRequired(command, line));
  // absl::FlagSaver would do for the undoing, but tells stderr of each flag it restores.
  std::vector<std::string> before;
  for (const FlagSetting& setting : settings) {
    before.push_back(FlagOrDie(setting.name).CurrentValue());
    absl::Status applied = Apply(setting);
    if (applied.ok()) continue;
    std::string ignored;
    for (size_t i = before.size(); i-- > 0;) FlagOrDie(settings[i].name).ParseFrom(before[i], &ignored);
    return applied;
  }
  return line;
}

// Whether any word before "--" is one of `forms`.
bool Asks(absl::Span<const char* const> argv, std::initializer_list<absl::string_view> forms) {
  for (const absl::string_view word : argv) {
    if (word == "--") return false;
    if (std::find(forms.begin(), forms.end(), word) != forms.end()) return true;
  }
  return false;
}

// The command that a line which need not be legal seems to mean, nullptr if none.
const Command* GuessCommand(const Program& program, absl::Span<const char* const> argv) {
  std::vector<std::string> words;
  for (const absl::string_view word : argv) {
    if (word == "--") break;
    if (!IsFlagWord(word)) words.emplace_back(word);
  }
  return FindCommand(program, words);
}

absl::Status WithTitle(const Program& program, absl::string_view command, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(program.name, command.empty() ? "" : " ", command, ": ", status.message()));
}

void PrintLine(absl::string_view line) { std::fprintf(stderr, "%s\n", std::string(line).c_str()); }

}  // namespace

absl::StatusOr<CommandLine> ParseFlags(const Program& program, absl::Span<const char* const> argv) {
  const Command* guess = GuessCommand(program, argv);
  CommandLine answer;
  if (Asks(argv, {"--help", "-help", "-h"})) {
    answer.answer = guess == nullptr ? ProgramHelp(program) : CommandHelp(program, *guess);
    return answer;
  }
  if (Asks(argv, {"--version", "-version"})) {
    answer.answer = absl::StrCat(program.name, " ", program.version, "\n");
    return answer;
  }
  FlagWords words(FlagsOf(program), guess == nullptr ? FlagsOf(program) : FlagsOf(*guess));
  const absl::Status read = words.Read(argv);
  if (!read.ok()) return WithTitle(program, guess == nullptr ? "" : guess->name, read);
  const Command* command = FindCommand(program, words.words());
  if (command == nullptr) return WithTitle(program, "", NoCommand(program, words.words()));
  absl::StatusOr<CommandLine> line = ParseCommand(program, *command, words);
  if (!line.ok()) return WithTitle(program, command->name, line.status());
  return line;
}

CommandLine ParseFlagsOrExit(const Program& program, int argc, const char* const* argv) {
  absl::StatusOr<CommandLine> line = ParseFlags(program, absl::MakeConstSpan(argv + 1, argc > 0 ? argc - 1 : 0));
  if (!line.ok()) {
    PrintLine(line.status().message());
    std::exit(2);
  }
  if (!line->answer.empty()) {
    std::fputs(line->answer.c_str(), stdout);
    std::exit(0);
  }
  return *std::move(line);
}

int UsageError(const Program& program, const CommandLine& line, absl::string_view message) {
  PrintLine(WithTitle(program, line.command, absl::InvalidArgumentError(message)).message());
  return 2;
}

}  // namespace rowan
