// ClusterConnection: a worker's or tool's way into a cluster: its coordinator, and its servers once the shard map names
// them. Servers on this host that have a Unix socket are reached through that. Thread-safe.
#ifndef ROWAN_WORKER_CLIENT_CLUSTER_CONNECTION_H_
#define ROWAN_WORKER_CLIENT_CLUSTER_CONNECTION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/data_plane.h"
#include "common/shard_map.h"
#include "worker/client/remote_control_plane.h"
#include "worker/client/remote_data_plane.h"

namespace rowan {

class ClusterConnection {
 public:
  struct Options {
    std::string coordinator;                          // HOST:PORT
    absl::Duration patience = absl::Seconds(60);      // with a coordinator or servers that are missing
    absl::Duration call_deadline = absl::Minutes(10);
    bool unix_sockets = true;                         // false: TCP, also on this host
  };
  // Does not connect yet. InvalidArgument for a bad address.
  static absl::StatusOr<std::unique_ptr<ClusterConnection>> Create(const Options& options);

  RemoteControlPlane* coordinator() { return coordinator_.get(); }
  // One for each server of the map, in its order; they live as long as this. REQUIRES: called once.
  absl::StatusOr<std::vector<DataPlane*>> ConnectServers(const ShardMap& map);

 private:
  ClusterConnection(const Options& options, std::unique_ptr<RemoteControlPlane> coordinator)
      : options_(options), coordinator_(std::move(coordinator)) {}

  const Options options_;
  const std::unique_ptr<RemoteControlPlane> coordinator_;
  std::vector<std::unique_ptr<RemoteDataPlane>> servers_;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_CLUSTER_CONNECTION_H_
