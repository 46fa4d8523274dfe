#include "common/snapshot/reader.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "common/rocksdb_status.h"
#include "common/row_format.h"
#include "common/snapshot/catalog.h"
#include "common/snapshot/layout.h"
#include "common/snapshot/sst_options.h"
#include "common/snapshot/verify.h"
#include "common/status_macros.h"
#include "rocksdb/iterator.h"
#include "rocksdb/sst_file_reader.h"

namespace rowan {
namespace {

struct Found {
  std::string directory;
  std::vector<std::string> skipped;
};

absl::StatusOr<Found> Find(rocksdb::Env* env, const std::string& path) {
  const absl::string_view base = absl::string_view(path).substr(path.rfind('/') + 1);
  ROWAN_RETURN_IF_ERROR(FromRocksDb(env->FileExists(path), path));
  if (ParseSnapshotName(base).has_value() || env->FileExists(absl::StrCat(path, "/", kManifestName)).ok()) {
    return Found{path, {}};
  }
  ROWAN_ASSIGN_OR_RETURN(const std::vector<SnapshotEntry> entries, ListSnapshots(env, path));
  Found found;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->complete) {
      found.directory = entry->path;
      return found;
    }
    found.skipped.push_back(entry->path);
  }
  return absl::NotFoundError(absl::StrCat(path, ": no complete snapshot here"));
}

// " the previous good snapshot is …", by verifying those before `directory` in its root, newest first.
std::string Offer(rocksdb::Env* env, const std::string& directory, int threads) {
  const size_t slash = directory.rfind('/');
  const std::string root = slash == std::string::npos ? "." : directory.substr(0, slash);
  const absl::optional<uint64_t> id = ParseSnapshotName(absl::string_view(directory).substr(slash + 1));
  if (!id.has_value()) return "";
  const absl::StatusOr<std::vector<SnapshotEntry>> entries = ListSnapshots(env, root);
  if (!entries.ok()) return "";
  for (auto entry = entries->rbegin(); entry != entries->rend(); ++entry) {
    if (entry->id < *id && entry->complete && VerifySnapshot(env, entry->path, threads).ok()) {
      return absl::StrCat("; the previous good snapshot is ", entry->path);
    }
  }
  return absl::StrCat("; no earlier snapshot in ", root, " is good");
}

std::string TableKey(const SnapshotKey& key) { return absl::StrCat("table ", key.table, ", key ", key.key); }

absl::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Calls `entry` for each entry of the file in key order, its state included, until it returns false or an error.
absl::Status ReadEntries(rocksdb::Env* env, const std::string& path, uint32_t shard, uint64_t* seen,
                         absl::FunctionRef<absl::StatusOr<bool>(const SnapshotKey&, absl::string_view)> entry) {
  rocksdb::SstFileReader file(SnapshotSstOptions(env));
  ROWAN_RETURN_IF_ERROR(FromRocksDb(file.Open(path), path));
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.verify_checksums = true;
  options.fill_cache = false;
  options.readahead_size = 2 << 20;
  const std::unique_ptr<rocksdb::Iterator> it(file.NewIterator(options));
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++*seen) {
    const absl::optional<SnapshotKey> key = LoadSnapshotKey(View(it->key()));
    if (!key.has_value() || key->shard != shard) {
      return absl::DataLossError(absl::StrCat(path, ", entry ", *seen, ": not an entry of shard ", shard));
    }
    ROWAN_ASSIGN_OR_RETURN(const bool more, entry(*key, View(it->value())));
    if (!more) return absl::OkStatus();
  }
  return FromRocksDb(it->status(), absl::StrCat(path, ", entry ", *seen));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SnapshotReader>> SnapshotReader::Open(rocksdb::Env* env, absl::string_view path,
                                                                     const SnapshotReaderOptions& options) {
  while (path.size() > 1 && absl::ConsumeSuffix(&path, "/")) {
  }
  ROWAN_ASSIGN_OR_RETURN(Found found, Find(env, std::string(path)));
  absl::StatusOr<proto::SnapshotManifest> manifest = VerifySnapshot(env, found.directory, options.verify_threads);
  if (!manifest.ok()) {
    const absl::Status& status = manifest.status();
    return absl::Status(absl::IsNotFound(status) ? absl::StatusCode::kDataLoss : status.code(),
                        absl::StrCat(status.message(), Offer(env, found.directory, options.verify_threads)));
  }
  auto reader = absl::WrapUnique(new SnapshotReader(env, std::move(found.directory), *std::move(manifest)));
  reader->skipped_ = std::move(found.skipped);
  return reader;
}

absl::StatusOr<const proto::SnapshotFile*> SnapshotReader::FileOf(uint32_t shard) const {
  if (shard >= manifest_.job().num_shards()) {
    return absl::InvalidArgumentError(
        absl::StrCat(directory_, ": shard ", shard, ", but it has ", manifest_.job().num_shards(), " shards"));
  }
  const auto& files = manifest_.files();
  const auto file = std::lower_bound(files.begin(), files.end(), shard,
                                     [](const proto::SnapshotFile& f, uint32_t s) { return f.shard() < s; });
  return file != files.end() && file->shard() == shard ? &*file : nullptr;
}

absl::Status SnapshotReader::ReadShard(uint32_t shard, RowCallback row) const {
  ROWAN_ASSIGN_OR_RETURN(const proto::SnapshotFile* const file, FileOf(shard));
  if (file == nullptr) return absl::OkStatus();
  const std::string path = absl::StrCat(directory_, "/", file->name());
  uint64_t seen = 0;
  ROWAN_RETURN_IF_ERROR(ReadEntries(
      env_, path, shard, &seen, [&](const SnapshotKey& key, absl::string_view block) -> absl::StatusOr<bool> {
        if (key.table == kShardStateTable) return true;
        if (block.size() < kRowHeaderBytes || LoadRowKey(block.data()) != key.key) {
          return absl::DataLossError(absl::StrCat(path, ", ", TableKey(key), ": not the block of this key"));
        }
        ROWAN_RETURN_IF_ERROR(row(key.table, key.key, block));
        return true;
      }));
  if (seen != file->entries()) {
    return absl::DataLossError(absl::StrCat(path, ": ", seen, " entries, expected ", file->entries()));
  }
  return absl::OkStatus();
}

absl::StatusOr<proto::ShardState> SnapshotReader::ReadShardState(uint32_t shard) const {
  ROWAN_ASSIGN_OR_RETURN(const proto::SnapshotFile* const file, FileOf(shard));
  proto::ShardState state;
  if (file == nullptr) return state;
  const std::string path = absl::StrCat(directory_, "/", file->name());
  uint64_t seen = 0;
  ROWAN_RETURN_IF_ERROR(ReadEntries(
      env_, path, shard, &seen, [&](const SnapshotKey& key, absl::string_view bytes) -> absl::StatusOr<bool> {
        if (key.table == kShardStateTable && !state.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
          return absl::DataLossError(absl::StrCat(path, ": its shard state is not one"));
        }
        return false;
      }));
  return state;
}

}  // namespace rowan
