#include "worker/client/pending.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace rowan {

void Pending::State::Finish(absl::Status result) {
  MutexLock lock(&mu);
  status = std::move(result);
  done = true;
  changed.SignalAll();
}

Pending::Pending(absl::Status status) : state_(std::make_shared<State>()) { state_->Finish(std::move(status)); }

Pending::~Pending() {
  if (state_ != nullptr) Wait().IgnoreError();
}

absl::Status Pending::Wait() {
  State& state = *state_;
  const absl::Time end = absl::Now() + deadline_;
  state.mu.Lock();
  while (!state.done && absl::Now() < end) state.changed.WaitWithTimeout(&state.mu, end - absl::Now());
  const bool in_time = state.done;
  state.mu.Unlock();
  if (!in_time && cancel_) cancel_();
  MutexLock lock(&state.mu);
  // Either cancelled, or being answered at this very moment: it cannot take long, and the spans are in use until then.
  while (!state.done) state.changed.WaitWithTimeout(&state.mu, absl::Seconds(1));
  if (!in_time && absl::IsCancelled(state.status)) {
    return absl::DeadlineExceededError(
        absl::StrCat("no answer within ", absl::FormatDuration(deadline_), ": ", state.status.message()));
  }
  return state.status;
}

}  // namespace rowan
