#include "server/storage/snapshot_writer.h"

#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/rocksdb_status.h"
#include "common/snapshot/layout.h"
#include "common/snapshot/manifest.h"
#include "common/status_macros.h"
#include "server/storage/durable.h"

namespace rowan {
namespace {

constexpr char kLockName[] = ".snapshot-lock";

absl::Status RemoveLeftovers(rocksdb::Env* env, const std::string& root) {
  std::vector<std::string> names;
  ROWAN_RETURN_IF_ERROR(FromRocksDb(env->GetChildren(root, &names), root));
  for (const std::string& name : names) {
    if (IsTempSnapshotName(name)) ROWAN_RETURN_IF_ERROR(RemoveDirectory(env, absl::StrCat(root, "/", name)));
  }
  return absl::OkStatus();
}

}  // namespace

SnapshotWriter::SnapshotWriter(rocksdb::Env* env, std::string root, uint64_t id)
    : env_(env),
      root_(std::move(root)),
      id_(id),
      final_directory_(absl::StrCat(root_, "/", SnapshotName(id))),
      temp_directory_(absl::StrCat(root_, "/", TempSnapshotName(id))) {}

absl::StatusOr<std::unique_ptr<SnapshotWriter>> SnapshotWriter::Create(rocksdb::Env* env, absl::string_view root,
                                                                       uint64_t id) {
  while (root.size() > 1 && absl::ConsumeSuffix(&root, "/")) {
  }
  auto writer = absl::WrapUnique(new SnapshotWriter(env, std::string(root), id));
  ROWAN_RETURN_IF_ERROR(CreateDirectories(env, writer->root_));
  const std::string lock = absl::StrCat(root, "/", kLockName);
  const rocksdb::Status locked = env->LockFile(lock, &writer->lock_);
  if (!locked.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(lock, ": another snapshot is being written into this directory: ", locked.ToString()));
  }
  const rocksdb::Status exists = env->FileExists(writer->final_directory_);
  if (exists.ok()) return absl::AlreadyExistsError(absl::StrCat(writer->final_directory_, ": exists already"));
  if (!exists.IsNotFound()) return FromRocksDb(exists, writer->final_directory_);
  ROWAN_RETURN_IF_ERROR(RemoveLeftovers(env, writer->root_));
  ROWAN_RETURN_IF_ERROR(FromRocksDb(env->CreateDir(writer->temp_directory_), writer->temp_directory_));
  return writer;
}

SnapshotWriter::~SnapshotWriter() {
  if (lock_ == nullptr) return;  // Create got nowhere: a directory of that name is somebody else's.
  Abandon();
  env_->UnlockFile(lock_).PermitUncheckedError();
}

void SnapshotWriter::Abandon() {
  // What cannot be removed now is removed by the next Create.
  if (env_->FileExists(temp_directory_).ok()) RemoveDirectory(env_, temp_directory_).IgnoreError();
}

absl::StatusOr<ShardFile*> SnapshotWriter::NewShard(uint32_t shard) {
  if (shard >= kMaxShards) {
    return absl::InvalidArgumentError(absl::StrCat(final_directory_, ": shard ", shard, " of at most ", kMaxShards));
  }
  MutexLock lock(&mu_);
  if (!open_) return absl::FailedPreconditionError(absl::StrCat(final_directory_, ": its writer is closed"));
  std::unique_ptr<ShardFile>& file = shards_[shard];
  if (file != nullptr) return absl::AlreadyExistsError(absl::StrCat(final_directory_, ": shard ", shard, " is begun"));
  file = std::make_unique<ShardFile>(env_, temp_directory_, shard);
  return file.get();
}

absl::StatusOr<std::string> SnapshotWriter::Publish(proto::SnapshotManifest manifest) {
  MutexLock lock(&mu_);
  if (!open_) return absl::FailedPreconditionError(absl::StrCat(final_directory_, ": its writer is closed"));
  open_ = false;
  absl::Status status = FillIn(&manifest);
  if (status.ok()) status = WriteManifest(manifest);
  if (status.ok()) status = RenameToFinal();
  shards_.clear();
  if (!status.ok()) {
    Abandon();
    return status;
  }
  return final_directory_;
}

absl::Status SnapshotWriter::FillIn(proto::SnapshotManifest* manifest) const {
  manifest->set_format_version(kSnapshotFormatVersion);
  manifest->set_id(id_);
  manifest->clear_files();
  std::map<uint32_t, uint64_t> rows;
  for (const auto& [shard, file] : shards_) {
    if (!file->finished()) {
      return absl::FailedPreconditionError(absl::StrCat(final_directory_, ": shard ", shard, " is not finished"));
    }
    if (file->file().entries() > 0) *manifest->add_files() = file->file();
    for (const auto& [table, count] : file->table_rows()) rows[table] += count;
  }
  for (proto::SnapshotTable& table : *manifest->mutable_tables()) {
    table.set_rows(rows[table.id()]);
    rows.erase(table.id());
  }
  if (!rows.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(final_directory_, ": rows of table ", rows.begin()->first, ", which the manifest does not name"));
  }
  const absl::Status check = CheckManifest(*manifest);
  if (check.ok()) return check;
  return absl::InvalidArgumentError(absl::StrCat(final_directory_, ": manifest: ", check.message()));
}

absl::Status SnapshotWriter::WriteManifest(const proto::SnapshotManifest& manifest) const {
  const std::string path = absl::StrCat(temp_directory_, "/", kManifestName);
  const std::string temp = absl::StrCat(path, ".tmp");
  ROWAN_RETURN_IF_ERROR(
      FromRocksDb(rocksdb::WriteStringToFile(env_, EncodeManifest(manifest), temp, /*should_sync=*/true), temp));
  ROWAN_RETURN_IF_ERROR(FromRocksDb(env_->RenameFile(temp, path), temp));
  return SyncDirectory(env_, temp_directory_);
}

absl::Status SnapshotWriter::RenameToFinal() {
  ROWAN_RETURN_IF_ERROR(FromRocksDb(env_->RenameFile(temp_directory_, final_directory_), temp_directory_));
  const absl::Status synced = SyncDirectory(env_, root_);
  if (synced.ok()) return synced;
  if (env_->RenameFile(final_directory_, temp_directory_).ok()) return synced;
  return absl::Status(synced.code(),
                      absl::StrCat(synced.message(), "; ", final_directory_, " is whole, but a power cut may undo it"));
}

}  // namespace rowan
