#include "server/coordinator/job.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/data_plane.h"
#include "common/status_macros.h"

namespace rowan {

ShardMap Job::Map() const {
  ShardMap map;
  map.version = 1;
  map.servers.resize(std::max<size_t>(1, hosts_.size()));
  map.server_of_shard = EvenPlacement(spec_.num_shards(), static_cast<uint32_t>(map.servers.size()));
  return map;
}

absl::StatusOr<Registration> Job::RegisterWorker() {
  MutexLock lock(&mu_);
  if (next_rank_ == spec_.num_ranks()) {
    return absl::FailedPreconditionError(absl::StrCat("all ", spec_.num_ranks(), " ranks of the job are taken"));
  }
  return Registration{next_rank_++, /*incarnation=*/1, kGeneration, Map(), spec_};
}

absl::StatusOr<Registration> Job::RegisterTool() {
  MutexLock lock(&mu_);
  return Registration{kFirstToolRank + next_tool_++, /*incarnation=*/1, kGeneration, Map(), spec_};
}

template <typename Spec>
absl::StatusOr<proto::SnapshotTable> Job::Open(const Spec& spec) {
  MutexLock opening_lock(&opening_mu_);
  Catalogue::Opening opening;
  {
    MutexLock lock(&mu_);
    ROWAN_ASSIGN_OR_RETURN(opening, catalogue_.Begin(spec));
  }
  if (opening.state == Catalogue::State::kOpen) return std::move(opening.table);
  absl::Status status;
  auto told = Catalogue::Told::kNone;
  for (ShardHost* host : hosts_) {
    status = TellHost(host, opening.table);
    if (!SurelyRefused(status)) told = Catalogue::Told::kSome;
    if (!status.ok()) break;
  }
  MutexLock lock(&mu_);
  catalogue_.End(opening.table.id(), status.ok() ? Catalogue::Told::kAll : told);
  ROWAN_RETURN_IF_ERROR(status);
  return std::move(opening.table);
}

absl::StatusOr<OpenedTable> Job::OpenTable(const proto::TableSpec& spec) {
  ROWAN_ASSIGN_OR_RETURN(const proto::SnapshotTable table, Open(spec));
  return OpenedTable{table.id(), table.table()};
}

absl::StatusOr<OpenedDense> Job::OpenDense(const proto::DenseSpec& spec) {
  ROWAN_ASSIGN_OR_RETURN(const proto::SnapshotTable table, Open(spec));
  return OpenedDense{table.id(), table.dense()};
}

absl::Status Job::AdoptTables(const proto::SnapshotManifest& manifest) {
  MutexLock opening(&opening_mu_);
  for (const proto::SnapshotTable& table : manifest.tables()) {
    for (ShardHost* host : hosts_) ROWAN_RETURN_IF_ERROR(TellHost(host, table));
    MutexLock lock(&mu_);
    catalogue_.Adopt(table);
  }
  return absl::OkStatus();
}

void Job::ReserveToolRanks(uint32_t first_free) {
  MutexLock lock(&mu_);
  if (first_free > kFirstToolRank) next_tool_ = std::max(next_tool_, first_free - kFirstToolRank);
}

std::vector<proto::SnapshotTable> Job::Tables() const {
  MutexLock lock(&mu_);
  return catalogue_.All();
}

}  // namespace rowan
