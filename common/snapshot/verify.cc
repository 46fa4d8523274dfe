#include "common/snapshot/verify.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/rocksdb_status.h"
#include "common/snapshot/file_checksum.h"
#include "common/snapshot/manifest.h"
#include "common/status_macros.h"
#include "common/thread_pool.h"

namespace rowan {
namespace {

absl::Status VerifyFile(rocksdb::Env* env, const std::string& path, const proto::SnapshotFile& expected) {
  uint64_t bytes = 0;
  const absl::Status stat = FromRocksDb(env->GetFileSize(path, &bytes), path);
  if (absl::IsNotFound(stat)) {
    return absl::DataLossError(absl::StrCat(path, ": missing, expected ", expected.bytes(), " bytes"));
  }
  ROWAN_RETURN_IF_ERROR(stat);
  if (bytes != expected.bytes()) {
    return absl::DataLossError(absl::StrCat(path, ": ", bytes, " bytes, expected ", expected.bytes(), " bytes"));
  }
  ROWAN_ASSIGN_OR_RETURN(const FileChecksum seen, ChecksumFile(env, path));
  const size_t pieces = std::min<size_t>(seen.piece_crc32c.size(), expected.piece_crc32c_size());
  for (size_t i = 0; i < pieces; ++i) {
    const uint32_t want = expected.piece_crc32c(static_cast<int>(i));
    if (seen.piece_crc32c[i] == want) continue;
    const uint64_t begin = i * kChecksumPieceBytes;
    const uint64_t end = std::min<uint64_t>(begin + kChecksumPieceBytes, bytes);
    return absl::DataLossError(absl::StrFormat("%s, bytes %d to %d: crc32c %08x, expected %08x", path, begin, end,
                                               seen.piece_crc32c[i], want));
  }
  if (seen.bytes != expected.bytes() || seen.crc32c != expected.crc32c()) {
    return absl::DataLossError(absl::StrFormat("%s, bytes 0 to %d: crc32c %08x, expected %08x of %d bytes", path,
                                               seen.bytes, seen.crc32c, expected.crc32c(), expected.bytes()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<proto::SnapshotManifest> VerifySnapshot(rocksdb::Env* env, const std::string& directory, int threads) {
  ROWAN_ASSIGN_OR_RETURN(proto::SnapshotManifest manifest, ReadManifest(env, directory));
  std::vector<absl::Status> verdicts(manifest.files_size());
  ThreadPool pool(std::min<int>(threads, std::max(1, manifest.files_size())));
  pool.ParallelFor(manifest.files_size(), [&](int64_t i) {
    const proto::SnapshotFile& file = manifest.files(static_cast<int>(i));
    verdicts[i] = VerifyFile(env, absl::StrCat(directory, "/", file.name()), file);
  });
  for (const absl::Status& verdict : verdicts) ROWAN_RETURN_IF_ERROR(verdict);
  return manifest;
}

}  // namespace rowan
