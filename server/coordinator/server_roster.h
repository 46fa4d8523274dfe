// ServerRoster: the servers of a cluster: their numbers, names, incarnations and leases. Not thread-safe.
//
// A slot a server, from the start. A slot is missing, starting (registered, no heartbeat yet), serving, or ended (it
// said that it exits); starting and serving ones whose last word is older than the lease are expired, and come back
// with their next heartbeat. Before the job has begun, a slot of one that has ended or expired may be taken by another
// process, under the next incarnation; afterwards its rows are gone with it, so that nobody may.
#ifndef ROWAN_SERVER_COORDINATOR_SERVER_ROSTER_H_
#define ROWAN_SERVER_COORDINATOR_SERVER_ROSTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/coordinator.pb.h"

namespace rowan {

class ServerRoster {
 public:
  // REQUIRES: 1 <= num_servers.
  ServerRoster(uint32_t num_servers, absl::Duration lease) : lease_(lease), slots_(num_servers) {}

  // Returns the server's number; its address is known to lead to it. AlreadyExists if another process has the name,
  // FailedPrecondition if no slot is left, both naming who has them.
  absl::StatusOr<uint32_t> Register(const proto::RegisterServerRequest& request, absl::Time now, bool begun);
  // FailedPrecondition if the server is not, or no longer, the process that has the number.
  absl::Status Heartbeat(const proto::ServerHeartbeatRequest& request, absl::Time now);

  uint32_t size() const { return static_cast<uint32_t>(slots_.size()); }
  // Whether every server has begun to serve, and none has ended since. One that has expired counts: it may come back.
  bool Complete() const;
  // Whether no server is there that would have to hear of the job's end.
  bool AllGone(absl::Time now) const;
  // "waiting for servers: 1 of 2, missing 1 more"; empty if all serve.
  std::string WaitsFor(absl::Time now) const;

  uint32_t incarnation(uint32_t server) const { return slots_[server].incarnation; }
  // "server 1 ('b' at 127.0.0.1:7702)".
  std::string Describe(uint32_t server) const;
  // Raised when Complete() first holds, and with every change of an address since. 0 before.
  uint64_t map_version() const { return map_version_; }
  // In order of their numbers; empty for one that never came.
  const proto::ServerAddress& address(uint32_t server) const { return slots_[server].address; }

  // All but the shards.
  proto::ServerStatus Status(uint32_t server, absl::Time now) const;
  // Every server was heard from this much later than noted.
  void Shift(absl::Duration by);

 private:
  enum class State { kMissing, kStarting, kServing, kEnded };
  struct Slot {
    State state = State::kMissing;
    std::string name;
    proto::ServerAddress address;
    uint64_t process = 0;
    uint32_t incarnation = 0;
    uint64_t applied_steps = 0;
    absl::Time heard;
  };

  bool Expired(const Slot& slot, absl::Time now) const;
  bool Alive(const Slot& slot, absl::Time now) const;
  // The slot that `request` is to have.
  absl::StatusOr<uint32_t> Choose(const proto::RegisterServerRequest& request, const std::string& name, absl::Time now,
                                  bool begun) const;

  const absl::Duration lease_;
  std::vector<Slot> slots_;
  uint64_t map_version_ = 0;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_COORDINATOR_SERVER_ROSTER_H_
