#include "server/service/local_job.h"

#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
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

LocalJob::LocalJob(const proto::JobSpec& spec, int threads, uint64_t applied)
    : pool_(std::make_unique<ThreadPool>(threads)),
      engine_(std::make_unique<ShardEngine>(Placement(spec.num_shards()), pool_.get())),
      host_(std::make_unique<EngineHost>(engine_.get())),
      job_(std::make_unique<Job>(spec, std::vector<ShardHost*>{host_.get()})) {
  ParameterServer::Options options;
  options.job = spec;
  options.generation = job_->generation();
  options.applied = applied;
  server_ = std::make_unique<ParameterServer>(options, engine_.get());
}

absl::StatusOr<std::unique_ptr<LocalJob>> LocalJob::Create(const proto::JobSpec& spec, int threads) {
  ROWAN_RETURN_IF_ERROR(CheckJobSpec(spec));
  return absl::WrapUnique(new LocalJob(spec, threads, /*applied=*/0));
}

absl::StatusOr<std::unique_ptr<LocalJob>> LocalJob::Restore(const proto::JobSpec& spec, int threads,
                                                            SnapshotReader* snapshot) {
  const proto::SnapshotManifest& manifest = snapshot->manifest();
  proto::JobSpec resumed = spec;
  resumed.set_num_shards(manifest.job().num_shards());
  resumed.set_seed(manifest.job().seed());
  ROWAN_RETURN_IF_ERROR(CheckJobSpec(resumed));
  auto job = absl::WrapUnique(new LocalJob(resumed, threads, manifest.position().step()));
  ROWAN_RETURN_IF_ERROR(job->job_->AdoptTables(manifest));
  std::vector<absl::Status> statuses(resumed.num_shards());
  job->pool_->ParallelFor(resumed.num_shards(), [&](int64_t s) {
    const uint32_t shard = static_cast<uint32_t>(s);
    statuses[s] = [&]() -> absl::Status {
      ROWAN_RETURN_IF_ERROR(snapshot->ReadShard(shard, [&](uint32_t id, uint64_t key, absl::string_view block) {
        return job->engine_->LoadBlock(shard, id, key, block);
      }));
      ROWAN_ASSIGN_OR_RETURN(const proto::ShardState state, snapshot->ReadShardState(shard));
      job->engine_->LoadState(shard, state);
      return absl::OkStatus();
    }();
  });
  if (absl::Status error = FirstError(statuses); !error.ok()) {
    return absl::Status(error.code(), absl::StrCat(snapshot->directory(), ": ", error.message()));
  }
  // Blocks that are missing would go unnoticed: the rows would simply not be there.
  if (const std::string digest = job->engine_->TotalDigest().ToHex(); digest != manifest.digest()) {
    return absl::DataLossError(absl::StrCat(snapshot->directory(), ": what was restored has the digest ", digest,
                                            ", the manifest says ", manifest.digest()));
  }
  for (uint32_t shard = 0; shard < resumed.num_shards(); ++shard) {
    const proto::ShardState state = job->engine_->State(shard);
    for (const auto& window : state.windows()) job->job_->ReserveToolRanks(window.rank() + 1);
  }
  return job;
}

absl::StatusOr<std::string> LocalJob::WriteSnapshot(const std::string& root, const SnapshotInfo& info) {
  ROWAN_ASSIGN_OR_RETURN(const auto writer, SnapshotWriter::Create(rocksdb::Env::Default(), root, info.id));
  const uint32_t shards = engine_->placement().num_shards();
  std::vector<absl::Status> statuses(shards);
  pool_->ParallelFor(shards, [&](int64_t s) {
    const uint32_t shard = static_cast<uint32_t>(s);
    statuses[s] = [&]() -> absl::Status {
      ROWAN_ASSIGN_OR_RETURN(ShardFile* const file, writer->NewShard(shard));
      if (const proto::ShardState state = engine_->State(shard); state.windows_size() > 0) {
        ROWAN_RETURN_IF_ERROR(file->PutState(state));
      }
      ROWAN_RETURN_IF_ERROR(engine_->ForEachBlock(
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
  manifest.set_digest(engine_->TotalDigest().ToHex());
  for (const auto& [key, value] : info.application) {
    proto::ApplicationEntry* const entry = manifest.add_application();
    entry->set_key(key);
    entry->set_value(value);
  }
  return writer->Publish(std::move(manifest));
}

}  // namespace rowan
