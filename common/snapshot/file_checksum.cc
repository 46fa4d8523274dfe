#include "common/snapshot/file_checksum.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/crc32c.h"
#include "common/rocksdb_status.h"
#include "common/status_macros.h"

namespace rowan {

absl::StatusOr<FileChecksum> ChecksumFile(rocksdb::Env* env, const std::string& path) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  ROWAN_RETURN_IF_ERROR(FromRocksDb(env->NewSequentialFile(path, &file, rocksdb::EnvOptions()), path));
  const std::unique_ptr<char[]> buffer(new char[kChecksumPieceBytes]);
  FileChecksum sum;
  uint32_t piece_crc = 0;
  int64_t piece_bytes = 0;
  while (true) {
    rocksdb::Slice read;
    const rocksdb::Status status = file->Read(kChecksumPieceBytes - piece_bytes, &read, buffer.get());
    if (!status.ok()) return FromRocksDb(status, absl::StrCat(path, " at byte ", sum.bytes));
    if (read.empty()) break;
    const absl::string_view bytes(read.data(), read.size());
    sum.bytes += bytes.size();
    sum.crc32c = ExtendCrc32c(sum.crc32c, bytes);
    piece_crc = ExtendCrc32c(piece_crc, bytes);
    piece_bytes += static_cast<int64_t>(bytes.size());
    if (piece_bytes == kChecksumPieceBytes) {
      sum.piece_crc32c.push_back(piece_crc);
      piece_crc = 0;
      piece_bytes = 0;
    }
  }
  if (piece_bytes > 0) sum.piece_crc32c.push_back(piece_crc);
  return sum;
}

}  // namespace rowan
