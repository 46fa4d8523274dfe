// CoordinatorLink: a server's side of its membership: registers, and keeps its lease by a heartbeat a second (or three
// a lease, if that is more often), in a thread that it owns. Thread-safe.
#ifndef ROWAN_SERVER_SERVICE_COORDINATOR_LINK_H_
#define ROWAN_SERVER_SERVICE_COORDINATOR_LINK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "common/patience.h"
#include "proto/coordinator.pb.h"

namespace rowan {

class CoordinatorLink {
 public:
  struct Options {
    std::string coordinator;       // HOST:PORT
    proto::ServerAddress address;  // as advertised
    std::string name;
    uint64_t process = 0;  // what this server's Identify answers
    Patience patience;     // with a coordinator that is not there: at the start, and later
  };
  // Registers, waiting for the coordinator as `patience` says. Errors are those of Cluster::RegisterServer and
  // AskPatiently. REQUIRES: ServerControl is served at the advertised address.
  static absl::StatusOr<std::unique_ptr<CoordinatorLink>> Register(const Options& options);
  // Leave().
  ~CoordinatorLink();

  const proto::RegisterServerReply& registration() const;

  struct Callbacks {
    std::function<uint64_t()> applied_steps;
    // Called at most once, in the link's thread: the job has failed.
    std::function<void(const std::string& why)> on_failure;
  };
  // The server serves from now on: begins the heartbeats. REQUIRES: called once.
  void Start(Callbacks callbacks);

  // Nothing while the job goes on; OK once the job was stopped; an error when the coordinator does not know this server
  // any more (FailedPrecondition) or has not answered for as long as the patience says (Unavailable).
  absl::optional<absl::Status> ended() const;

  // Ends the heartbeats and tells the coordinator, if it answers within a second, that the server is about to exit.
  void Leave();

 private:
  class Impl;
  explicit CoordinatorLink(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_COORDINATOR_LINK_H_
