// Job: a training run inside one process: its ranks and its catalogue of tables, for hosts that are called directly.
// (Between processes server/coordinator/cluster.h is the record.) Thread-safe.
//
// Hosts are told of a table before any worker learns its id.
#ifndef ROWAN_SERVER_COORDINATOR_JOB_H_
#define ROWAN_SERVER_COORDINATOR_JOB_H_

#include <cstdint>
#include <vector>

#include "common/control_plane.h"
#include "common/mutex.h"
#include "common/shard_map.h"
#include "proto/job.pb.h"
#include "proto/snapshot.pb.h"
#include "server/coordinator/catalogue.h"
#include "server/coordinator/job_spec.h"
#include "server/coordinator/shard_host.h"

namespace rowan {

class Job final : public ControlPlane {
 public:
  // `hosts` outlive the job. REQUIRES: CheckJobSpec(spec) is OK.
  Job(const proto::JobSpec& spec, std::vector<ShardHost*> hosts)
      : spec_(spec), hosts_(std::move(hosts)), catalogue_(spec.seed()) {}

  absl::StatusOr<Registration> RegisterWorker() override ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<Registration> RegisterTool() override ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<OpenedTable> OpenTable(const proto::TableSpec& spec) override ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<OpenedDense> OpenDense(const proto::DenseSpec& spec) override ABSL_LOCKS_EXCLUDED(mu_);

  // The tables of a snapshot, under their ids. REQUIRES: no table was opened yet.
  absl::Status AdoptTables(const proto::SnapshotManifest& manifest) ABSL_LOCKS_EXCLUDED(mu_);
  // Ranks of tools below this one belong to the past: a restored server still knows their pushes.
  void ReserveToolRanks(uint32_t first_free) ABSL_LOCKS_EXCLUDED(mu_);
  // All tables and dense parameters by id; rows are not filled in.
  std::vector<proto::SnapshotTable> Tables() const ABSL_LOCKS_EXCLUDED(mu_);

  // Shards spread evenly over the hosts, in their order.
  ShardMap Map() const;

  const proto::JobSpec& spec() const { return spec_; }
  uint64_t generation() const { return kGeneration; }

 private:
  // Opens what `spec` describes and returns id and spec as they are.
  template <typename Spec>
  absl::StatusOr<proto::SnapshotTable> Open(const Spec& spec) ABSL_LOCKS_EXCLUDED(opening_mu_, mu_);

  static constexpr uint64_t kGeneration = 1;

  const proto::JobSpec spec_;
  const std::vector<ShardHost*> hosts_;
  // Held while hosts are told, so that two openings of one table do not race. Lock order: opening_mu_, mu_.
  Mutex opening_mu_;
  mutable Mutex mu_;
  uint32_t next_rank_ ABSL_GUARDED_BY(mu_) = 0;
  uint32_t next_tool_ ABSL_GUARDED_BY(mu_) = 0;
  Catalogue catalogue_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rowan

#endif  // ROWAN_SERVER_COORDINATOR_JOB_H_
