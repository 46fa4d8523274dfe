// SnapshotReader: a snapshot that was found whole, read shard by shard.
//
// Open verifies every byte first, so RocksDB is never given a damaged file. Nothing is ever written: a root on a
// read-only mount will do. Thread-safe: shards may be read by several threads at once.
#ifndef ROWAN_COMMON_SNAPSHOT_READER_H_
#define ROWAN_COMMON_SNAPSHOT_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/snapshot.pb.h"
#include "rocksdb/env.h"

namespace rowan {

struct SnapshotReaderOptions {
  int verify_threads = 4;  // at least 1
};

class SnapshotReader {
 public:
  // One row, or one block of a dense parameter: `table` is its number in the manifest, at least 1; `key` the row's key
  // or the block's index; `block` its bytes as in common/row_format.h, valid during the call. An error ends the
  // reading.
  using RowCallback = absl::FunctionRef<absl::Status(uint32_t table, uint64_t key, absl::string_view block)>;

  // Opens the snapshot at `path`: a snapshot's directory, whatever its name, or a root, of which the newest complete
  // snapshot is taken; directories without a manifest (being copied or deleted) are passed over there, see skipped().
  // Errors: NotFound if there is no snapshot; else those of VerifySnapshot, a missing manifest being DataLoss. Those
  // say also which earlier snapshot of the same root is undamaged, and never open it unasked. `env` must outlive the
  // reader.
  static absl::StatusOr<std::unique_ptr<SnapshotReader>> Open(
      rocksdb::Env* env, absl::string_view path, const SnapshotReaderOptions& options = SnapshotReaderOptions());

  const proto::SnapshotManifest& manifest() const { return manifest_; }
  // Where the snapshot opened lies.
  const std::string& directory() const { return directory_; }
  // Newer directories of the root that were passed over for want of a manifest, newest first: worth a warning.
  const std::vector<std::string>& skipped() const { return skipped_; }

  // Calls `row` for each row of `shard`, tables ascending, then keys ascending. Rows may have been handed out when it
  // returns an error: the callback's own, or DataLoss for a file that has changed since Open or that holds entries
  // which are not this shard's rows. InvalidArgument: the job has no such shard.
  absl::Status ReadShard(uint32_t shard, RowCallback row) const;

  // What `shard` keeps beside its rows; an empty message if that is nothing. Errors as above.
  absl::StatusOr<proto::ShardState> ReadShardState(uint32_t shard) const;

 private:
  SnapshotReader(rocksdb::Env* env, std::string directory, proto::SnapshotManifest manifest)
      : env_(env), directory_(std::move(directory)), manifest_(std::move(manifest)) {}

  // The file of `shard`, null if it has none.
  absl::StatusOr<const proto::SnapshotFile*> FileOf(uint32_t shard) const;

  rocksdb::Env* const env_;
  const std::string directory_;
  const proto::SnapshotManifest manifest_;
  std::vector<std::string> skipped_;  // Immutable once Open has returned.
};

}  // namespace rowan

#endif  // ROWAN_COMMON_SNAPSHOT_READER_H_
