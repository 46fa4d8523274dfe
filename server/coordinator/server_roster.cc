#include "server/coordinator/server_roster.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace rowan {
namespace {

std::string Ago(absl::Duration ago) { return absl::FormatDuration(absl::Trunc(ago, absl::Seconds(1))); }

}  // namespace

bool ServerRoster::Expired(const Slot& slot, absl::Time now) const {
  return (slot.state == State::kStarting || slot.state == State::kServing) && now - slot.heard > lease_;
}

bool ServerRoster::Alive(const Slot& slot, absl::Time now) const {
  return (slot.state == State::kStarting || slot.state == State::kServing) && !Expired(slot, now);
}

std::string ServerRoster::Describe(uint32_t server) const {
  const Slot& slot = slots_[server];
  return absl::StrCat("server ", server, " ('", absl::CEscape(slot.name), "' at ", slot.address.tcp(), ")");
}

absl::StatusOr<uint32_t> ServerRoster::Choose(const proto::RegisterServerRequest& request, const std::string& name,
                                              absl::Time now, bool begun) const {
  uint32_t free = size();
  for (uint32_t i = size(); i-- > 0;) {
    const Slot& slot = slots_[i];
    if (slot.state == State::kMissing || (!begun && !Alive(slot, now))) free = i;
  }
  for (uint32_t i = 0; i < size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.state == State::kMissing) continue;
    // The address leads to the process that registers now, so that whoever had it before is gone.
    const bool replaces = slot.address.tcp() == request.address().tcp();
    if (slot.name == name && Alive(slot, now) && !replaces) {
      return absl::AlreadyExistsError(absl::StrCat("the name '", absl::CEscape(name), "' is taken by ", Describe(i),
                                                   ", heard from ", Ago(now - slot.heard), " ago"));
    }
    if (slot.name != name && !replaces) continue;
    if (begun) {
      return absl::FailedPreconditionError(
          absl::StrCat("the job has begun, and ", Describe(i),
                       " cannot be replaced: the rows that it held ended with it. Stop the job and start it anew"));
    }
    return i;
  }
  if (free < size()) return free;
  std::string there;
  for (uint32_t i = 0; i < size(); ++i) absl::StrAppend(&there, i == 0 ? "" : ", ", Describe(i));
  return absl::FailedPreconditionError(
      absl::StrCat("'", absl::CEscape(name), "' is one server too many: the job has ", size(), ": ", there));
}

absl::StatusOr<uint32_t> ServerRoster::Register(const proto::RegisterServerRequest& request, absl::Time now,
                                                bool begun) {
  const std::string name = request.name().empty() ? request.address().tcp() : request.name();
  for (uint32_t i = 0; i < size(); ++i) {
    if (slots_[i].process != request.process() || slots_[i].incarnation == 0) continue;
    if (slots_[i].state == State::kEnded) break;
    return i;
  }
  ROWAN_ASSIGN_OR_RETURN(const uint32_t server, Choose(request, name, now, begun));
  Slot& slot = slots_[server];
  slot.state = State::kStarting;
  slot.name = name;
  slot.address = request.address();
  slot.process = request.process();
  ++slot.incarnation;
  slot.applied_steps = 0;
  slot.heard = now;
  if (map_version_ > 0) ++map_version_;
  return server;
}

absl::Status ServerRoster::Heartbeat(const proto::ServerHeartbeatRequest& request, absl::Time now) {
  if (request.server() >= size() || slots_[request.server()].incarnation == 0 ||
      slots_[request.server()].incarnation < request.incarnation()) {
    return absl::FailedPreconditionError(
        absl::StrCat("server ", request.server(), " is unknown: the coordinator was started anew since it registered"));
  }
  Slot& slot = slots_[request.server()];
  if (slot.incarnation > request.incarnation() || slot.state == State::kEnded) {
    return absl::FailedPreconditionError(absl::StrCat("server ", request.server(), " incarnation ",
                                                      request.incarnation(), " has been replaced or has ended"));
  }
  slot.heard = now;
  slot.applied_steps = request.applied_steps();
  slot.state = request.leaving() ? State::kEnded : State::kServing;
  if (map_version_ == 0 && Complete()) map_version_ = 1;
  return absl::OkStatus();
}

bool ServerRoster::Complete() const {
  return std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.state == State::kServing; });
}

bool ServerRoster::AllGone(absl::Time now) const {
  return std::none_of(slots_.begin(), slots_.end(), [&](const Slot& slot) { return Alive(slot, now); });
}

std::string ServerRoster::WaitsFor(absl::Time now) const {
  uint32_t serving = 0;
  uint32_t missing = 0;
  std::string others;
  for (uint32_t i = 0; i < size(); ++i) {
    const Slot& slot = slots_[i];
    if (Expired(slot, now)) {
      absl::StrAppend(&others, ", the lease of ", Describe(i), " expired ", Ago(now - slot.heard - lease_), " ago");
    } else if (slot.state == State::kServing) {
      ++serving;
    } else if (slot.state == State::kStarting) {
      absl::StrAppend(&others, ", ", Describe(i), " is starting");
    } else {
      ++missing;
    }
  }
  if (serving == size()) return "";
  return absl::StrCat("waiting for servers: ", serving, " of ", size(),
                      missing > 0 ? absl::StrCat(", missing ", missing, " more") : "", others);
}

proto::ServerStatus ServerRoster::Status(uint32_t server, absl::Time now) const {
  const Slot& slot = slots_[server];
  proto::ServerStatus status;
  status.set_server(server);
  status.set_name(slot.name);
  *status.mutable_address() = slot.address;
  status.set_incarnation(slot.incarnation);
  status.set_applied_steps(slot.applied_steps);
  if (slot.state == State::kMissing) {
    status.set_state("missing");
    return status;
  }
  status.set_last_heard_ms(std::max<int64_t>(0, absl::ToInt64Milliseconds(now - slot.heard)));
  status.set_state(Expired(slot, now)               ? "lease expired"
                   : slot.state == State::kStarting ? "starting"
                   : slot.state == State::kServing  ? "serving"
                                                    : "ended");
  return status;
}

void ServerRoster::Shift(absl::Duration by) {
  for (Slot& slot : slots_) slot.heard += by;
}

}  // namespace rowan
