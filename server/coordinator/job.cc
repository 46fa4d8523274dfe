#include "server/coordinator/job.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/data_plane.h"
#include "common/hash.h"
#include "common/placement.h"
#include "common/status_macros.h"
#include "server/table/table_schema.h"

namespace rowan {
namespace {

// The seed of a table or dense parameter that names none: never 0.
uint64_t DeriveSeed(uint64_t job_seed, uint64_t kind, const std::string& name) {
  return std::max<uint64_t>(1, Mix64(BytesHash(RandomBits(job_seed, kind), name)));
}

}  // namespace

absl::Status CheckJobSpec(const proto::JobSpec& spec) {
  if (!proto::JobSpec::Mode_IsValid(spec.mode())) {
    return absl::InvalidArgumentError(absl::StrCat("job mode ", spec.mode(), " is unknown"));
  }
  if (spec.num_ranks() < 1 || spec.num_ranks() >= kFirstToolRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("job with ", spec.num_ranks(), " ranks: must have 1 to ", kFirstToolRank - 1));
  }
  if (!IsValidShardCount(spec.num_shards())) {
    return absl::InvalidArgumentError(
        absl::StrCat("job with ", spec.num_shards(), " shards: must be a power of two, 1 to ", kMaxShards));
  }
  return absl::OkStatus();
}

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

absl::StatusOr<OpenedTable> Job::OpenTable(const proto::TableSpec& spec) {
  MutexLock opening(&opening_mu_);
  OpenedTable opened;
  {
    MutexLock lock(&mu_);
    const auto existing = tables_.find(spec.name());
    if (existing != tables_.end()) {
      ROWAN_RETURN_IF_ERROR(CheckSameIdentity(existing->second.spec, spec));
      return existing->second;
    }
    opened = {next_id_++, spec};
  }
  if (spec.seed() == 0) opened.spec.set_seed(DeriveSeed(spec_.seed(), /*kind=*/0, spec.name()));
  for (ShardHost* host : hosts_) ROWAN_RETURN_IF_ERROR(host->AddTable(opened.id, opened.spec));
  MutexLock lock(&mu_);
  tables_[spec.name()] = opened;
  return opened;
}

absl::StatusOr<OpenedDense> Job::OpenDense(const proto::DenseSpec& spec) {
  MutexLock opening(&opening_mu_);
  OpenedDense opened;
  {
    MutexLock lock(&mu_);
    const auto existing = dense_.find(spec.name());
    if (existing != dense_.end()) {
      ROWAN_RETURN_IF_ERROR(CheckSameIdentity(existing->second.spec, spec));
      return existing->second;
    }
    opened = {next_id_++, spec};
  }
  if (spec.seed() == 0) opened.spec.set_seed(DeriveSeed(spec_.seed(), /*kind=*/1, spec.name()));
  for (ShardHost* host : hosts_) ROWAN_RETURN_IF_ERROR(host->AddDense(opened.id, opened.spec));
  MutexLock lock(&mu_);
  dense_[spec.name()] = opened;
  return opened;
}

absl::Status Job::AdoptTables(const proto::SnapshotManifest& manifest) {
  MutexLock opening(&opening_mu_);
  for (const proto::SnapshotTable& table : manifest.tables()) {
    for (ShardHost* host : hosts_) {
      ROWAN_RETURN_IF_ERROR(table.has_table() ? host->AddTable(table.id(), table.table())
                                              : host->AddDense(table.id(), table.dense()));
    }
    MutexLock lock(&mu_);
    next_id_ = std::max(next_id_, table.id() + 1);
    if (table.has_table()) {
      tables_[table.table().name()] = {table.id(), table.table()};
    } else {
      dense_[table.dense().name()] = {table.id(), table.dense()};
    }
  }
  return absl::OkStatus();
}

void Job::ReserveToolRanks(uint32_t first_free) {
  MutexLock lock(&mu_);
  if (first_free > kFirstToolRank) next_tool_ = std::max(next_tool_, first_free - kFirstToolRank);
}

std::vector<proto::SnapshotTable> Job::Catalogue() const {
  MutexLock lock(&mu_);
  std::vector<proto::SnapshotTable> catalogue;
  for (const auto& [name, opened] : tables_) {
    catalogue.emplace_back();
    catalogue.back().set_id(opened.id);
    *catalogue.back().mutable_table() = opened.spec;
  }
  for (const auto& [name, opened] : dense_) {
    catalogue.emplace_back();
    catalogue.back().set_id(opened.id);
    *catalogue.back().mutable_dense() = opened.spec;
  }
  std::sort(catalogue.begin(), catalogue.end(), [](const auto& a, const auto& b) { return a.id() < b.id(); });
  return catalogue;
}

}  // namespace rowan
