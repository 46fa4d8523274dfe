// ClusterClient: what rowanctl asks of a cluster. Every call has a deadline. Not thread-safe.
//
// Errors: Unavailable, naming the address, for a process that does not answer; NotFound for a table that does not
// exist; otherwise what the process said.
#ifndef ROWAN_SERVER_ADMIN_CLUSTER_CLIENT_H_
#define ROWAN_SERVER_ADMIN_CLUSTER_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/admin.pb.h"
#include "proto/coordinator.pb.h"

namespace rowan {

class ClusterClient {
 public:
  // `timeout`: of each call. InvalidArgument for a bad address.
  static absl::StatusOr<std::unique_ptr<ClusterClient>> Create(const std::string& coordinator, absl::Duration timeout);
  ~ClusterClient();

  absl::StatusOr<proto::ClusterStatus> Status();
  absl::StatusOr<proto::TablesReport> Tables();
  // `digests`: takes a pass over all rows.
  absl::StatusOr<proto::ShardsReport> Shards(bool digests);
  // The row as it is now, over the data plane.
  absl::StatusOr<proto::RowReport> Row(const std::string& table, uint64_t key);
  absl::Status StopJob();

 private:
  class Impl;
  explicit ClusterClient(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_ADMIN_CLUSTER_CLIENT_H_
