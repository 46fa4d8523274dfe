#include "common/snapshot/catalog.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/rocksdb_status.h"
#include "common/snapshot/layout.h"
#include "common/status_macros.h"

namespace rowan {

absl::StatusOr<std::vector<SnapshotEntry>> ListSnapshots(rocksdb::Env* env, const std::string& root) {
  std::vector<std::string> names;
  ROWAN_RETURN_IF_ERROR(FromRocksDb(env->GetChildren(root, &names), root));
  std::vector<SnapshotEntry> entries;
  for (const std::string& name : names) {
    const absl::optional<uint64_t> id = ParseSnapshotName(name);
    if (!id.has_value()) continue;
    const std::string path = absl::StrCat(root, "/", name);
    const rocksdb::Status manifest = env->FileExists(absl::StrCat(path, "/", kManifestName));
    if (!manifest.ok() && !manifest.IsNotFound()) return FromRocksDb(manifest, path);
    entries.push_back({*id, path, manifest.ok()});
  }
  std::sort(entries.begin(), entries.end(), [](const SnapshotEntry& a, const SnapshotEntry& b) { return a.id < b.id; });
  return entries;
}

}  // namespace rowan
