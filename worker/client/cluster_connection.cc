#include "worker/client/cluster_connection.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/host_id.h"
#include "common/status_macros.h"

namespace rowan {

absl::StatusOr<std::unique_ptr<ClusterConnection>> ClusterConnection::Create(const Options& options) {
  RemoteControlPlane::Options control;
  control.coordinator = options.coordinator;
  control.patience.limit = options.patience;
  ROWAN_ASSIGN_OR_RETURN(auto coordinator, RemoteControlPlane::Create(control));
  return absl::WrapUnique(new ClusterConnection(options, std::move(coordinator)));
}

absl::StatusOr<std::vector<DataPlane*>> ClusterConnection::ConnectServers(const ShardMap& map) {
  const std::string host = HostId();
  std::vector<DataPlane*> servers;
  for (const ServerEndpoint& endpoint : map.servers) {
    const bool same_host = !host.empty() && endpoint.host == host;
    RemoteDataPlane::Options remote;
    remote.address = options_.unix_sockets && same_host && !endpoint.unix.empty()
                         ? absl::StrCat("unix:", endpoint.unix)
                         : endpoint.tcp;
    remote.deadline = options_.call_deadline;
    ROWAN_ASSIGN_OR_RETURN(auto server, RemoteDataPlane::Create(remote));
    servers_.push_back(std::move(server));
    servers.push_back(servers_.back().get());
  }
  return servers;
}

}  // namespace rowan
