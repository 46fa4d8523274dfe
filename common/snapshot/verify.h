// Whether a snapshot on disk is, byte for byte, the one that was written. RocksDB is not asked: its own checks miss
// flips in a file's last bytes, and some of those end the process.
#ifndef ROWAN_COMMON_SNAPSHOT_VERIFY_H_
#define ROWAN_COMMON_SNAPSHOT_VERIFY_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/snapshot.pb.h"
#include "rocksdb/env.h"

namespace rowan {

// Reads the manifest of the snapshot at `directory` and every file it names, with `threads` threads, and returns the
// manifest. Files that it does not name are passed over. Changes nothing. Errors: those of ReadManifest; for the first
// file in shard order that is not as it should be, DataLoss naming
//   missing                   the file
//   another length            the file, its length and the expected one
//   another content           the file, the first bad piece's range of bytes, its CRC-32C and the expected one
// and what FromRocksDb makes of a failed read.
// REQUIRES: threads >= 1.
absl::StatusOr<proto::SnapshotManifest> VerifySnapshot(rocksdb::Env* env, const std::string& directory, int threads);

}  // namespace rowan

#endif  // ROWAN_COMMON_SNAPSHOT_VERIFY_H_
