#include "server/coordinator/worker_roster.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace rowan {

absl::StatusOr<uint32_t> WorkerRoster::Register(const proto::RegisterClientRequest& request, absl::Time now) {
  uint32_t free = size();
  for (uint32_t i = size(); i-- > 0;) {
    if (ranks_[i].state == State::kMissing) {
      free = i;
    } else if (ranks_[i].process == request.process()) {
      return i;
    }
  }
  if (free == size()) {
    return absl::FailedPreconditionError(absl::StrCat("all ", size(), " ranks of the job are taken"));
  }
  Rank& rank = ranks_[free];
  rank.state = State::kTraining;
  rank.host = request.host();
  rank.process = request.process();
  ++rank.incarnation;
  rank.heard = now;
  return free;
}

absl::Status WorkerRoster::Heartbeat(const proto::ClientHeartbeatRequest& request, absl::Time now) {
  if (request.rank() >= size() || ranks_[request.rank()].incarnation != request.incarnation() ||
      request.incarnation() == 0) {
    return absl::FailedPreconditionError(absl::StrCat("rank ", request.rank(), " incarnation ", request.incarnation(),
                                                      " is unknown: the coordinator was started anew since it "
                                                      "registered"));
  }
  Rank& rank = ranks_[request.rank()];
  rank.heard = now;
  rank.position = request.position();
  if (rank.state != State::kTraining) return absl::OkStatus();
  if (!request.failure().empty()) {
    rank.state = State::kFailed;
  } else if (request.finished()) {
    rank.state = State::kFinished;
  }
  return absl::OkStatus();
}

std::string WorkerRoster::Expire(absl::Time now) {
  std::string expired;
  for (uint32_t i = 0; i < size(); ++i) {
    Rank& rank = ranks_[i];
    if (rank.state != State::kTraining || now - rank.heard <= lease_) continue;
    rank.state = State::kExpired;
    absl::StrAppend(&expired, expired.empty() ? "" : "; ", "rank ", i, " (on ", absl::CEscape(rank.host),
                    ") was not heard from for ",
                    absl::FormatDuration(absl::Trunc(now - rank.heard, absl::Milliseconds(100))));
  }
  return expired;
}

bool WorkerRoster::AllFinished() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.state == State::kFinished; });
}

bool WorkerRoster::AllTold() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.state != State::kTraining || rank.told; });
}

std::string WorkerRoster::WaitsFor() const {
  const int64_t missing =
      std::count_if(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.state == State::kMissing; });
  if (missing == 0) return "";
  return absl::StrCat("waiting for workers: ", size() - missing, " of ", size(), ", missing ", missing, " more");
}

proto::WorkerStatus WorkerRoster::Status(uint32_t index, absl::Time now) const {
  constexpr const char* kNames[] = {"missing", "training", "finished", "failed", "lease expired"};
  const Rank& rank = ranks_[index];
  proto::WorkerStatus status;
  status.set_rank(index);
  status.set_incarnation(rank.incarnation);
  status.set_host(rank.host);
  status.set_state(kNames[static_cast<int>(rank.state)]);
  *status.mutable_position() = rank.position;
  if (rank.state != State::kMissing) {
    status.set_last_heard_ms(std::max<int64_t>(0, absl::ToInt64Milliseconds(now - rank.heard)));
  }
  return status;
}

void WorkerRoster::Shift(absl::Duration by) {
  for (Rank& rank : ranks_) rank.heard += by;
}

}  // namespace rowan
