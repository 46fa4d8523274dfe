// The manifest of a snapshot as bytes: proto::SnapshotManifest as protobuf text, then one last line
//
//   # crc32c 1d2f0a77
//
// with the CRC-32C, in lower-case hexadecimal, of every byte before that line. The text is the same for equal messages.
// Fields that this build does not know are ignored; see FORMAT.md for what a version may change.
#ifndef ROWAN_COMMON_SNAPSHOT_MANIFEST_H_
#define ROWAN_COMMON_SNAPSHOT_MANIFEST_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/snapshot.pb.h"
#include "rocksdb/env.h"

namespace rowan {

inline constexpr uint32_t kSnapshotFormatVersion = 1;

// The bytes of the file MANIFEST.
std::string EncodeManifest(const proto::SnapshotManifest& manifest);

// The opposite. `name` is the file's name for messages. Errors:
//   DataLoss            cut short, edited or damaged: says which length or checksum was seen and which expected
//   FailedPrecondition  undamaged, but of a format version or with values that this build does not know
//   InvalidArgument     undamaged, but not a manifest that CheckManifest accepts: its writer was at fault
absl::StatusOr<proto::SnapshotManifest> ParseManifest(absl::string_view bytes, absl::string_view name);

// ParseManifest of the file in `directory`, whose name, if it is a snapshot's, must agree with the manifest's id.
// NotFound: there is none, so the snapshot is incomplete.
absl::StatusOr<proto::SnapshotManifest> ReadManifest(rocksdb::Env* env, const std::string& directory);

// The value under `key` of the application section; null if there is none. Lives as long as the manifest is unchanged.
const std::string* FindApplicationEntry(const proto::SnapshotManifest& manifest, absl::string_view key);

// What every manifest keeps: format version 1; a full snapshot; a legal number of shards; tables with ascending numbers
// from 1 and a spec; files in shard order, each named after its shard, with as many piece checksums as its length
// wants; each application key once. Returns InvalidArgument naming the field otherwise.
absl::Status CheckManifest(const proto::SnapshotManifest& manifest);

}  // namespace rowan

#endif  // ROWAN_COMMON_SNAPSHOT_MANIFEST_H_
