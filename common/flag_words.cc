#include "common/flag_words.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>
#include <utility>

#include "absl/flags/reflection.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/flag_help.h"
#include "common/status_macros.h"
#include "glog/logging.h"

namespace rowan {
namespace {

constexpr size_t kLongestPath = 4096;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

bool Contains(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool IsFlagWord(absl::string_view word) { return word.size() > 1 && word[0] == '-'; }

absl::CommandLineFlag& FlagOrDie(absl::string_view name) {
  absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  CHECK(flag != nullptr) << "the program lists --" << std::string(name) << ", which does not exist";
  return *flag;
}

absl::Status FlagWords::Read(absl::Span<const char* const> argv) {
  std::set<std::string> seen;
  for (size_t i = 0; i < argv.size(); ++i) {
    const absl::string_view word = argv[i];
    if (word == "--") {
      words_.insert(words_.end(), argv.begin() + i + 1, argv.end());
      break;
    }
    if (!IsFlagWord(word)) {
      words_.emplace_back(word);
      continue;
    }
    ROWAN_ASSIGN_OR_RETURN(FlagSetting setting, Split(word, /*place=*/"", i + 1 < argv.size() ? argv[i + 1] : nullptr));
    if (took_next_) ++i;
    if (!seen.insert(setting.name).second) return Error(setting.shown, ": --", setting.name, " is given twice");
    if (setting.name == "flagfile") {
      ROWAN_RETURN_IF_ERROR(ReadFile(setting.value));
    } else {
      line_settings_.push_back(std::move(setting));
    }
  }
  return absl::OkStatus();
}

absl::Status FlagWords::ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file.is_open()) return Error("--flagfile=", OneLine(path, kLongestPath), ": must be a file that can be read");
  std::set<std::string> seen;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    const absl::string_view word = absl::StripAsciiWhitespace(line);
    if (word.empty() || word[0] == '#') continue;
    const std::string place = absl::StrCat(OneLine(path, kLongestPath), ":", number, ": ");
    if (!IsFlagWord(word)) return Error(place, OneLine(word), ": must be --flag=value, --flag, --noflag or # comment");
    ROWAN_ASSIGN_OR_RETURN(FlagSetting setting, Split(word, place, /*next=*/nullptr));
    if (setting.name == "flagfile") return Error(setting.shown, ": a flag file cannot name another one");
    if (!seen.insert(setting.name).second) return Error(setting.shown, ": --", setting.name, " is given twice");
    file_settings_.push_back(std::move(setting));
  }
  if (file.bad()) return Error("--flagfile=", OneLine(path, kLongestPath), ": must be a file that can be read");
  return absl::OkStatus();
}

absl::StatusOr<FlagSetting> FlagWords::Split(absl::string_view word, absl::string_view place, const char* next) {
  took_next_ = false;
  const absl::string_view body = word.substr(absl::StartsWith(word, "--") ? 2 : 1);
  const size_t equals = body.find('=');
  const bool has_value = equals != absl::string_view::npos;
  FlagSetting setting;
  setting.name = std::string(body.substr(0, equals));
  setting.shown = absl::StrCat(place, OneLine(word));
  if (setting.name != "flagfile" && !Contains(known_, setting.name)) {
    const std::string name = setting.name;
    if (!absl::StartsWith(name, "no") || !Contains(known_, name.substr(2))) return Unknown(setting.shown, name);
    setting.name = name.substr(2);
    if (!FlagOrDie(setting.name).IsOfType<bool>()) {
      return Error(setting.shown, ": --", setting.name, " is not a flag of true or false");
    }
    if (has_value) return Error(setting.shown, ": --", name, " takes no value");
    setting.value = "false";
    return setting;
  }
  if (has_value) {
    setting.value = std::string(body.substr(equals + 1));
    return setting;
  }
  if (setting.name != "flagfile" && FlagOrDie(setting.name).IsOfType<bool>()) {
    setting.value = "true";
    return setting;
  }
  if (next == nullptr || absl::StartsWith(next, "--")) {
    const std::string legal = setting.name == "flagfile" ? "a file" : LegalValues(FlagOrDie(setting.name));
    return Error(setting.shown, ": needs a value", legal.empty() ? "" : "; it must be ", legal);
  }
  took_next_ = true;
  setting.value = next;
  setting.shown = absl::StrCat("--", setting.name, "=", OneLine(next));
  return setting;
}

absl::Status FlagWords::Unknown(absl::string_view shown, absl::string_view name) const {
  const std::string nearest = Nearest(name, likely_);
  return Error(shown, ": there is no such flag; ",
               nearest.empty() ? "--help lists them" : absl::StrCat("the nearest is --", nearest));
}

std::vector<FlagSetting> FlagWords::settings() const {
  std::vector<FlagSetting> all = file_settings_;
  all.insert(all.end(), line_settings_.begin(), line_settings_.end());
  return all;
}

}  // namespace rowan
