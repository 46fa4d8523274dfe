#include "common/flag_rules.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "glog/logging.h"

namespace rowan {
namespace {

absl::flat_hash_map<std::string, FlagRule>& Rules() {
  static auto* const rules = new absl::flat_hash_map<std::string, FlagRule>;
  return *rules;
}

}  // namespace

const FlagRule* FindFlagRule(absl::string_view name) {
  const auto it = Rules().find(name);
  return it == Rules().end() ? nullptr : &it->second;
}

namespace flags_internal {

bool AddFlagRule(absl::string_view name, FlagRule rule) {
  CHECK(Rules().emplace(std::string(name), std::move(rule)).second) << "--" << std::string(name) << " has two rules";
  return true;
}

std::string AnyOf(const std::vector<std::string>& choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ", choices[i]);
  }
  return text;
}

FlagRule ChoicesRule(std::vector<std::string> choices) {
  std::string legal = AnyOf(choices);
  return {std::move(legal), [choices = std::move(choices)](const absl::CommandLineFlag& flag) {
            const auto value = flag.TryGet<std::string>();
            return value.has_value() && std::find(choices.begin(), choices.end(), *value) != choices.end();
          }};
}

}  // namespace flags_internal
}  // namespace rowan
