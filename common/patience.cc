#include "common/patience.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "glog/logging.h"

namespace rowan {

absl::Status AskPatiently(const Patience& patience, absl::FunctionRef<absl::Status()> ask) {
  const absl::Time start = absl::Now();
  absl::Time told = absl::InfinitePast();
  while (true) {
    const absl::Status status = ask();
    if (!absl::IsUnavailable(status)) return status;
    const absl::Duration left = start + patience.limit - absl::Now();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(
          absl::StrCat("gave up after ", absl::FormatDuration(patience.limit), ": ", status.message()));
    }
    if (absl::Now() - told >= patience.tell_every) {
      told = absl::Now();
      const std::string what(status.message());
      if (patience.tell) {
        patience.tell(what);
      } else {
        LOG(INFO) << what;
      }
    }
    const absl::Duration wait = std::min(patience.ask_every, left);
    if (!patience.pause) {
      absl::SleepFor(wait);
    } else if (!patience.pause(wait)) {
      return absl::CancelledError(absl::StrCat("told to end while ", status.message()));
    }
  }
}

}  // namespace rowan
