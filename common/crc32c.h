// CRC-32C (Castagnoli): polynomial 0x1edc6f41, reflected, starting from and finally XORed with 2^32 - 1. The checksum
// of iSCSI, of ext4 and of `rhash --crc32c`; the nine bytes "123456789" have e3069283.
#ifndef ROWAN_COMMON_CRC32C_H_
#define ROWAN_COMMON_CRC32C_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace rowan {

// The CRC-32C of a || `bytes`, where `crc` is that of a; 0 is that of nothing.
uint32_t ExtendCrc32c(uint32_t crc, absl::string_view bytes);

inline uint32_t Crc32c(absl::string_view bytes) { return ExtendCrc32c(0, bytes); }

}  // namespace rowan

#endif  // ROWAN_COMMON_CRC32C_H_
