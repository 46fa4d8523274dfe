// SnapshotWriter: writes one snapshot into a root, so that it is there whole or not at all.
//
// Everything is written into a temporary directory of the root and synced; one rename publishes it. Whatever fails, and
// wherever a process is killed, what readers of the root see is unchanged. common/snapshot/FORMAT.md has the layout.
//
//   ROWAN_ASSIGN_OR_RETURN(auto writer, SnapshotWriter::Create(env, root, id));
//   ROWAN_ASSIGN_OR_RETURN(ShardFile* file, writer->NewShard(shard));   // each shard by any one thread
//   ROWAN_RETURN_IF_ERROR(file->Put(table, key, block));                // in ascending order
//   ROWAN_RETURN_IF_ERROR(file->Finish());
//   ROWAN_ASSIGN_OR_RETURN(std::string path, writer->Publish(manifest));
//
// NewShard may be called by several threads at once. Publish and the destructor need all other calls, also those to
// shard files, to have ended. A root has one writer at a time, over all processes of the host: a lock file sees to it.
#ifndef ROWAN_SERVER_STORAGE_SNAPSHOT_WRITER_H_
#define ROWAN_SERVER_STORAGE_SNAPSHOT_WRITER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "proto/snapshot.pb.h"
#include "rocksdb/env.h"
#include "server/storage/shard_file.h"

namespace rowan {

class SnapshotWriter {
 public:
  // Begins snapshot `id` in `root`, which is made if it is missing. Removes what dead attempts left there, and nothing
  // else. AlreadyExists: the root has this snapshot. FailedPrecondition: another writer is at work in the root.
  // `env` must outlive the writer.
  static absl::StatusOr<std::unique_ptr<SnapshotWriter>> Create(rocksdb::Env* env, absl::string_view root, uint64_t id);

  // Abandons the snapshot unless it was published: removes its temporary directory.
  ~SnapshotWriter();

  // The file of `shard`, owned by the writer. A shard that is asked for twice: AlreadyExists. A number of kMaxShards or
  // more: InvalidArgument.
  absl::StatusOr<ShardFile*> NewShard(uint32_t shard) ABSL_LOCKS_EXCLUDED(mu_);

  // Makes the snapshot visible and returns its directory; when it returns, a power cut cannot take it any more. Fills
  // in the manifest's format_version, id, files and tables.rows; the rest is the caller's. FailedPrecondition: a shard
  // file was not finished. InvalidArgument: CheckManifest, or rows of a table that the manifest does not name. After an
  // error the snapshot is abandoned and every later call is FailedPrecondition. One error leaves it visible, whole, but
  // perhaps not safe from a power cut, and says so: the root cannot be synced, nor the rename taken back.
  absl::StatusOr<std::string> Publish(proto::SnapshotManifest manifest) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  SnapshotWriter(rocksdb::Env* env, std::string root, uint64_t id);

  absl::Status FillIn(proto::SnapshotManifest* manifest) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WriteManifest(const proto::SnapshotManifest& manifest) const;
  absl::Status RenameToFinal();
  void Abandon();

  rocksdb::Env* const env_;
  const std::string root_;
  const uint64_t id_;
  const std::string final_directory_;
  const std::string temp_directory_;
  rocksdb::FileLock* lock_ = nullptr;  // Held while the writer lives.
  Mutex mu_;
  bool open_ ABSL_GUARDED_BY(mu_) = true;  // Publish has not been called.
  std::map<uint32_t, std::unique_ptr<ShardFile>> shards_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rowan

#endif  // ROWAN_SERVER_STORAGE_SNAPSHOT_WRITER_H_
