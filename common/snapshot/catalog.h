// What a snapshot root holds.
#ifndef ROWAN_COMMON_SNAPSHOT_CATALOG_H_
#define ROWAN_COMMON_SNAPSHOT_CATALOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rocksdb/env.h"

namespace rowan {

struct SnapshotEntry {
  uint64_t id = 0;
  std::string path;       // root/snapshot-…
  bool complete = false;  // Has a manifest. Says nothing of damage.
};

// The snapshots in `root`, ids ascending; other names are passed over. NotFound if there is no such directory.
absl::StatusOr<std::vector<SnapshotEntry>> ListSnapshots(rocksdb::Env* env, const std::string& root);

}  // namespace rowan

#endif  // ROWAN_COMMON_SNAPSHOT_CATALOG_H_
