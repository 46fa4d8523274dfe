// Patience: how long to ask again for what is not there yet, and how to say so.
#ifndef ROWAN_COMMON_PATIENCE_H_
#define ROWAN_COMMON_PATIENCE_H_

#include <functional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace rowan {

struct Patience {
  absl::Duration limit = absl::Seconds(60);
  absl::Duration ask_every = absl::Milliseconds(200);
  absl::Duration tell_every = absl::Seconds(5);
  // Waits that long; false: somebody wants to end, give up. Null: sleeps.
  std::function<bool(absl::Duration)> pause = nullptr;
  // Told what is waited for. Null: the log.
  std::function<void(const std::string&)> tell = nullptr;
};

// Calls `ask` until it returns something else than Unavailable, whose message ("waiting for ...") is told when it first
// comes and every `tell_every`. Returns what `ask` returned; DeadlineExceeded, naming the limit and the last message,
// when the limit is reached; Cancelled when `pause` says so.
absl::Status AskPatiently(const Patience& patience, absl::FunctionRef<absl::Status()> ask);

}  // namespace rowan

#endif  // ROWAN_COMMON_PATIENCE_H_
