// Cluster: the coordinator's record of a job between processes: servers, workers, shard map, tables, and what has
// become of the job. A passive state machine: no threads, no network, time from a clock, so that its rules can be read
// and tested in one place. Requests and replies are the messages of proto/coordinator.proto. Not thread-safe.
//
// A job waits for its servers, then for its workers, trains, and has finished when every worker has; its servers serve
// on until it is stopped. It has begun with the first client: from then on no server can be replaced. It fails, once
// and for good, when a worker fails or is not heard from for a lease, or when a server ends while workers train; all
// others learn that with their next heartbeat.
//
// A gap of a third of a lease between two looks at the clock is a pause of this process itself, or a clock that was
// set: nobody's lease runs meanwhile. So Tick() must be called more often than that.
#ifndef ROWAN_SERVER_COORDINATOR_CLUSTER_H_
#define ROWAN_SERVER_COORDINATOR_CLUSTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "proto/coordinator.pb.h"
#include "server/coordinator/catalogue.h"
#include "server/coordinator/server_roster.h"
#include "server/coordinator/worker_roster.h"

namespace rowan {

class Cluster {
 public:
  struct Options {
    proto::JobSpec job;
    uint32_t num_servers = 1;
    absl::Duration lease = absl::Seconds(30);
  };
  // InvalidArgument names field, value and range.
  static absl::Status Check(const Options& options);

  // `clock` outlives the cluster. REQUIRES: Check(options) is OK.
  Cluster(const Options& options, Clock* clock);

  // Looks at the clock: lets leases run out.
  void Tick();

  // Takes a server in; its address is known to lead to it. The reply lists all tables, those being opened too: whoever
  // opens one from now on has to tell this server. AlreadyExists if its name is taken, FailedPrecondition if there is
  // no place for it, or for a protocol of another version.
  absl::StatusOr<proto::RegisterServerReply> RegisterServer(const proto::RegisterServerRequest& request);
  absl::StatusOr<proto::ServerHeartbeatReply> ServerHeartbeat(const proto::ServerHeartbeatRequest& request);

  // A worker under the next free rank, or a tool under its own. Unavailable, saying who is missing, until all servers
  // serve; FailedPrecondition when all ranks are taken, and when the job has failed or was stopped.
  absl::StatusOr<proto::RegisterClientReply> RegisterClient(const proto::RegisterClientRequest& request);
  absl::StatusOr<proto::ClientHeartbeatReply> ClientHeartbeat(const proto::ClientHeartbeatRequest& request);

  // OK if a table may be opened now: Unavailable while servers are missing, FailedPrecondition after the job's end.
  absl::Status CheckOpen();
  Catalogue* catalogue() { return &catalogue_; }
  const ServerRoster& servers() const { return servers_; }

  // Ends the job: whoever sends a heartbeat is told to exit.
  void Stop();
  bool stopped() const { return stopped_; }
  // Stopped, and nobody is left who has not been told.
  bool MayExit() const;

  proto::ClusterStatus Status();
  // Its `state`, as of the last look at the clock.
  std::string StateText() const;

 private:
  static constexpr uint64_t kGeneration = 1;

  void Fail(const std::string& why);
  // Why workers must end, empty while they need not.
  std::string WhyOver() const;
  absl::Status CheckAlive(uint32_t protocol) const;
  proto::ShardMap Map() const;

  const Options options_;
  Clock* const clock_;
  absl::Time now_;  // of the last Tick
  Catalogue catalogue_;
  ServerRoster servers_;
  WorkerRoster workers_;
  uint32_t next_tool_ = 0;
  bool begun_ = false;
  bool stopped_ = false;
  std::string failure_;  // not empty: the job has failed
};

}  // namespace rowan

#endif  // ROWAN_SERVER_COORDINATOR_CLUSTER_H_
