// ShardHost: a server as the coordinator sees it. Thread-safe.
#ifndef ROWAN_SERVER_COORDINATOR_SHARD_HOST_H_
#define ROWAN_SERVER_COORDINATOR_SHARD_HOST_H_

#include <cstdint>

#include "absl/status/status.h"
#include "proto/snapshot.pb.h"
#include "proto/table.pb.h"

namespace rowan {

class ShardHost {
 public:
  virtual ~ShardHost() = default;

  // InvalidArgument names what is wrong in the spec, AlreadyExists an id that belongs to another table. To add the same
  // one again changes nothing. The spec's seed is resolved.
  virtual absl::Status AddTable(uint32_t id, const proto::TableSpec& spec) = 0;
  virtual absl::Status AddDense(uint32_t id, const proto::DenseSpec& spec) = 0;
};

// Whether an error of AddTable or AddDense means that the host surely did not take the table.
inline bool SurelyRefused(const absl::Status& error) {
  return absl::IsInvalidArgument(error) || absl::IsAlreadyExists(error);
}

// Adds what `table` describes, of either kind.
inline absl::Status TellHost(ShardHost* host, const proto::SnapshotTable& table) {
  return table.has_dense() ? host->AddDense(table.id(), table.dense()) : host->AddTable(table.id(), table.table());
}

}  // namespace rowan

#endif  // ROWAN_SERVER_COORDINATOR_SHARD_HOST_H_
