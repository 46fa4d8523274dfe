// What servers and workers need to call their coordinator: one way to say that it is not there.
#ifndef ROWAN_COMMON_COORDINATOR_CALL_H_
#define ROWAN_COMMON_COORDINATOR_CALL_H_

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/grpc_status.h"
#include "grpcpp/client_context.h"

namespace rowan {

// How often to say that one is alive: each second, or three times a lease, if that is more often.
inline absl::Duration HeartbeatEvery(uint64_t lease_ms) {
  return std::min(absl::Seconds(1), absl::Milliseconds(std::max<uint64_t>(lease_ms, 30)) / 3);
}

// The result of a call to the coordinator at `address`. What it waits for itself ("waiting for servers: ...") stays as
// it is; that it does not answer becomes Unavailable, "waiting for the coordinator at HOST:PORT (...)".
inline absl::Status CoordinatorStatus(const std::string& address, const grpc::Status& status) {
  absl::Status result = FromGrpcStatus(status);
  // A coordinator that shuts down cancels the calls it is working on: "CANCELLED" without words of its own.
  const bool cut_off = absl::IsCancelled(result) && (result.message().empty() || result.message() == "CANCELLED");
  if (!absl::IsUnavailable(result) && !absl::IsDeadlineExceeded(result) && !cut_off) return result;
  if (absl::StartsWith(result.message(), "waiting for ")) return result;
  return absl::UnavailableError(absl::StrCat("waiting for the coordinator at ", address, " (", result.message(), ")"));
}

// Gives the call a deadline.
inline void SetDeadline(grpc::ClientContext* context, absl::Duration deadline) {
  context->set_deadline(absl::ToChronoTime(absl::Now() + deadline));
}

}  // namespace rowan

#endif  // ROWAN_COMMON_COORDINATOR_CALL_H_
