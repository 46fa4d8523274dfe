// The names and keys of a snapshot on disk; FORMAT.md beside this file describes the whole.
//
//   root/                             one job's snapshots
//     snapshot-00000000000000000017/  one snapshot: 20 decimal digits, so that names sort as numbers
//       shard-00000.sst               the entries of one shard, in key order; a shard without entries has no file
//       MANIFEST
//     .tmp-snapshot-…                 an attempt in progress, or what a dead one left
//
// The key of an entry, big-endian so that bytes sort as numbers: shard (2 bytes), table (4), key (8).
#ifndef ROWAN_COMMON_SNAPSHOT_LAYOUT_H_
#define ROWAN_COMMON_SNAPSHOT_LAYOUT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "common/placement.h"

namespace rowan {

inline constexpr char kManifestName[] = "MANIFEST";

// The table number under which a shard keeps its proto::ShardState, with key 0. Real tables begin at 1.
inline constexpr uint32_t kShardStateTable = 0;

std::string SnapshotName(uint64_t id);
// Nothing for every string that SnapshotName does not make.
absl::optional<uint64_t> ParseSnapshotName(absl::string_view name);

// The directory in which snapshot `id` is written before it gets its name.
std::string TempSnapshotName(uint64_t id);
bool IsTempSnapshotName(absl::string_view name);

// REQUIRES: shard < kMaxShards (common/placement.h).
std::string ShardFileName(uint32_t shard);

inline constexpr int64_t kSnapshotKeyBytes = 14;

struct SnapshotKey {
  uint32_t shard = 0;  // less than kMaxShards
  uint32_t table = 0;
  uint64_t key = 0;
};

// Writes kSnapshotKeyBytes bytes to `out`.
void StoreSnapshotKey(const SnapshotKey& key, char* out);
// Nothing unless `bytes` are kSnapshotKeyBytes long.
absl::optional<SnapshotKey> LoadSnapshotKey(absl::string_view bytes);

}  // namespace rowan

#endif  // ROWAN_COMMON_SNAPSHOT_LAYOUT_H_
