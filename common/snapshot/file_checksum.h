// The length and CRC-32C of a whole file, and of its pieces, so that damage can be told by its place.
#ifndef ROWAN_COMMON_SNAPSHOT_FILE_CHECKSUM_H_
#define ROWAN_COMMON_SNAPSHOT_FILE_CHECKSUM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rocksdb/env.h"

namespace rowan {

inline constexpr int64_t kChecksumPieceBytes = int64_t{1} << 20;

struct FileChecksum {
  uint64_t bytes = 0;
  uint32_t crc32c = 0;                 // of the whole file
  std::vector<uint32_t> piece_crc32c;  // of each kChecksumPieceBytes in turn, the last piece shorter, none empty
};

// Reads the file at `path` from end to end. Errors name the path and the byte reached.
absl::StatusOr<FileChecksum> ChecksumFile(rocksdb::Env* env, const std::string& path);

}  // namespace rowan

#endif  // ROWAN_COMMON_SNAPSHOT_FILE_CHECKSUM_H_
