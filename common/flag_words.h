// FlagWords: a command line taken apart into settings and words, before any flag is set. Used by common/flags.cc alone.
#ifndef ROWAN_COMMON_FLAG_WORDS_H_
#define ROWAN_COMMON_FLAG_WORDS_H_

#include <string>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace rowan {

// One flag and the value it is to get.
struct FlagSetting {
  std::string name;
  std::string value;
  std::string shown;  // As it was written, after the place if that is a file: "job.flags:3: --seed=x".
};

class FlagWords {
 public:
  // `known`: the flags of the program. `likely`: those that the nearest one to a mistyped flag is chosen from.
  FlagWords(std::vector<std::string> known, std::vector<std::string> likely)
      : known_(std::move(known)), likely_(std::move(likely)) {}

  // Reads `argv` and the flag file it names. Returns InvalidArgument for an unknown or repeated flag, a missing value
  // and a bad flag file. Call it once.
  absl::Status Read(absl::Span<const char* const> argv);

  // The settings in the order in which they apply: those of the flag file, then those of the command line.
  std::vector<FlagSetting> settings() const;
  // What is no flag, in order.
  const std::vector<std::string>& words() const { return words_; }

 private:
  absl::Status ReadFile(const std::string& path);
  // Splits one word that begins with a dash. `place` goes before it in `shown`. `next` is the word behind it, which
  // may be its value (then took_next_ is set); nullptr if there is none or it may not be used.
  absl::StatusOr<FlagSetting> Split(absl::string_view word, absl::string_view place, const char* next);
  absl::Status Unknown(absl::string_view shown, absl::string_view name) const;

  const std::vector<std::string> known_;
  const std::vector<std::string> likely_;
  std::vector<FlagSetting> line_settings_;
  std::vector<FlagSetting> file_settings_;
  std::vector<std::string> words_;
  bool took_next_ = false;
};

// Whether `word` has the form of a flag: a dash and more. A lone dash is a word.
bool IsFlagWord(absl::string_view word);

// The flag called `name`. Dies if there is none: the program lists a flag that it does not define.
absl::CommandLineFlag& FlagOrDie(absl::string_view name);

}  // namespace rowan

#endif  // ROWAN_COMMON_FLAG_WORDS_H_
