// Which values of a flag are legal, said beside its ABSL_FLAG. ParseFlags (common/flags.h) enforces the rules, --help
// prints them.
//
//   ABSL_FLAG(int64_t, batch_size, 2048, "Samples of one step, over all ranks.");
//   ROWAN_FLAG_RANGE(batch_size, 1, 1 << 20);
//   ABSL_FLAG(std::string, mode, "sync", "What a pull sees.");
//   ROWAN_FLAG_CHOICES(mode, "sync", "async");
//   ABSL_FLAG(std::string, shuffle, "epoch", "The order of the samples.");
//   ROWAN_FLAG_CHECK(shuffle, "none, window:N or epoch", IsShuffle);  // bool IsShuffle(const std::string&)
//
// At most one rule a flag. Rules are registered before main() and never change afterwards.
#ifndef ROWAN_COMMON_FLAG_RULES_H_
#define ROWAN_COMMON_FLAG_RULES_H_

#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace rowan {

struct FlagRule {
  // Completes the sentence "must be ...": "an integer from 1 to 8", "sync or async".
  std::string legal;
  // Whether the flag's current value is legal.
  std::function<bool(const absl::CommandLineFlag&)> holds;
};

// The rule of the flag called `name`, nullptr if it has none. Lives for ever.
const FlagRule* FindFlagRule(absl::string_view name);

namespace flags_internal {

// Dies if `name` has a rule already. The result only serves to initialize something.
bool AddFlagRule(absl::string_view name, FlagRule rule);

// "a", "a or b", "a, b or c".
std::string AnyOf(const std::vector<std::string>& choices);

inline std::string EndpointText(absl::Duration value) { return absl::FormatDuration(value); }
template <typename T>
std::string EndpointText(T value) {
  return absl::StrCat(value);
}

// Both ends are legal values; NaN never is. The largest value of T as `max` reads "of at least min".
template <typename T>
FlagRule RangeRule(T min, T max) {
  const char* kind = "a duration ";
  T largest;
  if constexpr (std::is_arithmetic_v<T>) {
    kind = std::is_integral_v<T> ? "an integer " : "a number ";
    largest = std::numeric_limits<T>::max();
  } else {
    largest = absl::InfiniteDuration();
  }
  std::string legal = max >= largest ? absl::StrCat(kind, "of at least ", EndpointText(min))
                                     : absl::StrCat(kind, "from ", EndpointText(min), " to ", EndpointText(max));
  return {std::move(legal), [min, max](const absl::CommandLineFlag& flag) {
            const auto value = flag.TryGet<T>();
            return value.has_value() && *value >= min && *value <= max;
          }};
}

template <typename T, typename Holds>
FlagRule CheckRule(absl::string_view legal, Holds holds) {
  return {std::string(legal), [holds = std::move(holds)](const absl::CommandLineFlag& flag) {
            const auto value = flag.TryGet<T>();
            return value.has_value() && holds(*value);
          }};
}

FlagRule ChoicesRule(std::vector<std::string> choices);

}  // namespace flags_internal
}  // namespace rowan

#define ROWAN_FLAG_TYPE(name) std::decay_t<decltype(::absl::GetFlag(FLAGS_##name))>

// `name` is of an arithmetic type or an absl::Duration; `min` and `max` are legal.
#define ROWAN_FLAG_RANGE(name, min, max)                      \
  [[maybe_unused]] static const bool rowan_flag_rule_##name = \
      ::rowan::flags_internal::AddFlagRule(#name, ::rowan::flags_internal::RangeRule<ROWAN_FLAG_TYPE(name)>(min, max))

// `name` is a std::string.
#define ROWAN_FLAG_CHOICES(name, ...)                         \
  [[maybe_unused]] static const bool rowan_flag_rule_##name = \
      ::rowan::flags_internal::AddFlagRule(#name, ::rowan::flags_internal::ChoicesRule({__VA_ARGS__}))

// `holds` takes a value of the flag's type and returns whether it is legal; `legal` completes "must be ...".
#define ROWAN_FLAG_CHECK(name, legal, holds)                                                        \
  [[maybe_unused]] static const bool rowan_flag_rule_##name = ::rowan::flags_internal::AddFlagRule( \
      #name, ::rowan::flags_internal::CheckRule<ROWAN_FLAG_TYPE(name)>(legal, holds))

#endif  // ROWAN_COMMON_FLAG_RULES_H_
