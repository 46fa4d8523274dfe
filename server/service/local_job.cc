#include "server/service/local_job.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/placement.h"
#include "common/shard_map.h"
#include "common/status_macros.h"
#include "glog/logging.h"
#include "rocksdb/env.h"
#include "server/coordinator/job_spec.h"
#include "server/storage/snapshot_writer.h"

namespace rowan {
namespace {

// The first error of several tasks.
absl::Status FirstError(const std::vector<absl::Status>& statuses) {
  for (const absl::Status& status : statuses) ROWAN_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

}  // namespace

LocalJob::LocalJob(const proto::JobSpec& spec, int threads, int num_servers, uint64_t applied)
    : pool_(std::make_unique<ThreadPool>(threads)), server_of_shard_(EvenPlacement(spec.num_shards(), num_servers)) {
  std::vector<ShardHost*> hosts;
  for (int i = 0; i < num_servers; ++i) {
    servers_.push_back(std::make_unique<Server>(Placement(spec.num_shards()), pool_.get(),
                                                ShardOwnership{/*map_version=*/1, ShardsOf(server_of_shard_, i)}));
    hosts.push_back(&servers_.back()->host);
  }
  job_ = std::make_unique<Job>(spec, hosts);
  CHECK(job_->Map().server_of_shard == server_of_shard_);
  ParameterServer::Options options;
  options.job = spec;
  options.generation = job_->generation();
  options.applied = applied;
  for (const auto& server : servers_) {
    server->server = std::make_unique<ParameterServer>(options, &server->engine);
  }
}

std::vector<DataPlane*> LocalJob::data_planes() {
  std::vector<DataPlane*> planes;
  for (const auto& server : servers_) planes.push_back(server->server.get());
  return planes;
}

Digest LocalJob::TotalDigest() const {
  Digest total;
  for (const auto& server : servers_) total.Add(server->engine.TotalDigest());
  return total;
}

std::vector<TableUsage> LocalJob::Usage() const {
  std::vector<TableUsage> total = servers_[0]->engine.Usage();
  for (size_t i = 1; i < servers_.size(); ++i) {
    for (const TableUsage& usage : servers_[i]->engine.Usage()) {
      const auto sum =
          std::find_if(total.begin(), total.end(), [&](const TableUsage& table) { return table.id == usage.id; });
      if (sum == total.end()) continue;  // Added since.
      sum->rows += usage.rows;
      sum->block_bytes += usage.block_bytes;
      sum->index_bytes += usage.index_bytes;
    }
  }
  return total;
}

ApplyCounts LocalJob::counts() const {
  ApplyCounts total;
  for (const auto& server : servers_) total += server->server->counts();
  return total;
}

uint64_t LocalJob::applied() const {
  uint64_t applied = servers_[0]->server->applied();
  for (const auto& server : servers_) applied = std::min(applied, server->server->applied());
  return applied;
}

void LocalJob::Stop(const absl::Status& status) {
  for (const auto& server : servers_) server->server->Stop(status);
}

absl::StatusOr<std::unique_ptr<LocalJob>> LocalJob::Create(const proto::JobSpec& spec, int threads, int num_servers) {
  ROWAN_RETURN_IF_ERROR(CheckJobSpec(spec));
  return absl::WrapUnique(new LocalJob(spec, threads, num_servers, /*applied=*/0));
}

absl::StatusOr<std::unique_ptr<LocalJob>> LocalJob::Restore(const proto::JobSpec& spec, int threads,
                                                            SnapshotReader* snapshot, int num_servers) {
  const proto::SnapshotManifest& manifest = snapshot->manifest();
  proto::JobSpec resumed = spec;
  resumed.set_num_shards(manifest.job().num_shards());
  resumed.set_seed(manifest.job().seed());
  ROWAN_RETURN_IF_ERROR(CheckJobSpec(resumed));
  auto job = absl::WrapUnique(new LocalJob(resumed, threads, num_servers, manifest.position().step()));
  ROWAN_RETURN_IF_ERROR(job->job_->AdoptTables(manifest));
  std::vector<absl::Status> statuses(resumed.num_shards());
  job->pool_->ParallelFor(resumed.num_shards(), [&](int64_t s) {
    const uint32_t shard = static_cast<uint32_t>(s);
    statuses[s] = [&]() -> absl::Status {
      ROWAN_RETURN_IF_ERROR(snapshot->ReadShard(shard, [&](uint32_t id, uint64_t key, absl::string_view block) {
        return job->EngineOf(shard)->LoadBlock(shard, id, key, block);
      }));
      ROWAN_ASSIGN_OR_RETURN(const proto::ShardState state, snapshot->ReadShardState(shard));
      job->EngineOf(shard)->LoadState(shard, state);
      return absl::OkStatus();
    }();
  });
  if (absl::Status error = FirstError(statuses); !error.ok()) {
    return absl::Status(error.code(), absl::StrCat(snapshot->directory(), ": ", error.message()));
  }
  // Blocks that are missing would go unnoticed: the rows would simply not be there.
  if (!manifest.digest().empty()) {
    ROWAN_ASSIGN_OR_RETURN(const Digest expected, Digest::Parse(manifest.digest()));
    if (const Digest digest = job->TotalDigest(); digest != expected) {
      return absl::DataLossError(absl::StrCat(snapshot->directory(), ": what was restored has the digest ",
                                              digest.ToHex(), ", the manifest says ", expected.ToHex()));
    }
  }
  for (uint32_t shard = 0; shard < resumed.num_shards(); ++shard) {
    const proto::ShardState state = job->EngineOf(shard)->State(shard);
    for (const auto& window : state.windows()) job->job_->ReserveToolRanks(window.rank() + 1);
  }
  return job;
}

absl::StatusOr<std::string> LocalJob::WriteSnapshot(const std::string& root, const SnapshotInfo& info) {
  ROWAN_ASSIGN_OR_RETURN(const auto writer, SnapshotWriter::Create(rocksdb::Env::Default(), root, info.id));
  std::vector<absl::Status> statuses(num_shards());
  pool_->ParallelFor(num_shards(), [&](int64_t s) {
    const uint32_t shard = static_cast<uint32_t>(s);
    const ShardEngine* const engine = EngineOf(shard);
    statuses[s] = [&]() -> absl::Status {
      ROWAN_ASSIGN_OR_RETURN(ShardFile* const file, writer->NewShard(shard));
      if (const proto::ShardState state = engine->State(shard); state.windows_size() > 0) {
        ROWAN_RETURN_IF_ERROR(file->PutState(state));
      }
      ROWAN_RETURN_IF_ERROR(engine->ForEachBlock(
          shard, [&](uint32_t id, uint64_t key, absl::string_view block) { return file->Put(id, key, block); }));
      return file->Finish();
    }();
  });
  ROWAN_RETURN_IF_ERROR(FirstError(statuses));
  proto::SnapshotManifest manifest;
  manifest.set_generation(job_->generation());
  *manifest.mutable_job() = job_->spec();
  *manifest.mutable_position() = info.position;
  for (proto::SnapshotTable& table : job_->Tables()) *manifest.add_tables() = std::move(table);
  manifest.set_digest(TotalDigest().ToHex());
  for (const auto& [key, value] : info.application) {
    proto::ApplicationEntry* const entry = manifest.add_application();
    entry->set_key(key);
    entry->set_value(value);
  }
  return writer->Publish(std::move(manifest));
}

}  // namespace rowan
