#include "common/crc32c.h"

#include <isa-l/crc.h>

namespace rowan {

uint32_t ExtendCrc32c(uint32_t crc, absl::string_view bytes) {
  constexpr size_t kMaxPiece = size_t{1} << 30;  // ISA-L counts in int.
  crc = ~crc;                                    // ISA-L leaves both XORs to its caller.
  while (!bytes.empty()) {
    const absl::string_view piece = bytes.substr(0, kMaxPiece);
    // Not written to, though not declared const.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data()));
    crc = crc32_iscsi(data, static_cast<int>(piece.size()), crc);
    bytes.remove_prefix(piece.size());
  }
  return ~crc;
}

}  // namespace rowan
