// ControlPlane: the coordinator as workers see it. Who takes part, which tables there are. Thread-safe.
#ifndef ROWAN_COMMON_CONTROL_PLANE_H_
#define ROWAN_COMMON_CONTROL_PLANE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/shard_map.h"
#include "proto/job.pb.h"
#include "proto/table.pb.h"

namespace rowan {

struct Registration {
  uint32_t rank = 0;
  uint32_t incarnation = 0;
  uint64_t generation = 0;
  ShardMap map;
  proto::JobSpec job;
};

struct OpenedTable {
  uint32_t id = 0;
  proto::TableSpec spec;  // as it exists: with its seed
};

struct OpenedDense {
  uint32_t id = 0;
  proto::DenseSpec spec;
};

class ControlPlane {
 public:
  virtual ~ControlPlane() = default;

  // Takes a worker in under the next free rank. FailedPrecondition when all ranks are taken.
  virtual absl::StatusOr<Registration> RegisterWorker() = 0;
  // A client outside steps: a rank of kFirstToolRank or more.
  virtual absl::StatusOr<Registration> RegisterTool() = 0;
  // Creates the table on every server, or finds it. FailedPrecondition if it exists with another identity.
  virtual absl::StatusOr<OpenedTable> OpenTable(const proto::TableSpec& spec) = 0;
  virtual absl::StatusOr<OpenedDense> OpenDense(const proto::DenseSpec& spec) = 0;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_CONTROL_PLANE_H_
