// One row as bytes: the block that servers keep in memory, in the cold tier and in snapshots, byte for byte.
//
//   offset  bytes
//        0      8  key
//        8      4  update count: pushes applied to this row, stops at 2^32 - 1
//       12      6  last step: the step of the last push applied
//       18      2  flags, 0 for now
//       20   4 * w  values: w floats, the table's slices one after the other
//   20 + 4w  4 * s  optimizer state: s floats, the slices' states one after the other (server/table/optimizer.h)
//
// All little-endian. Blocks are packed. In memory they begin at multiples of 4 bytes, so their floats are aligned and
// their key is not; on disk and in messages nothing is. Load and store headers through these functions.
#ifndef ROWAN_COMMON_ROW_FORMAT_H_
#define ROWAN_COMMON_ROW_FORMAT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace rowan {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "row blocks are little-endian");

inline constexpr int64_t kRowHeaderBytes = 20;
inline constexpr uint64_t kMaxLastStep = (uint64_t{1} << 48) - 1;

struct RowHeader {
  uint64_t key = 0;
  uint32_t update_count = 0;
  uint64_t last_step = 0;  // at most kMaxLastStep
  uint16_t flags = 0;
};

inline uint64_t LoadRowKey(const char* block) {
  uint64_t key;
  std::memcpy(&key, block, 8);
  return key;
}

inline RowHeader LoadRowHeader(const char* block) {
  RowHeader header;
  std::memcpy(&header.key, block, 8);
  std::memcpy(&header.update_count, block + 8, 4);
  std::memcpy(&header.last_step, block + 12, 6);
  std::memcpy(&header.flags, block + 18, 2);
  return header;
}

inline void StoreRowHeader(const RowHeader& header, char* block) {
  std::memcpy(block, &header.key, 8);
  std::memcpy(block + 8, &header.update_count, 4);
  std::memcpy(block + 12, &header.last_step, 6);
  std::memcpy(block + 18, &header.flags, 2);
}

// The values, then the state. REQUIRES: `block` begins at a multiple of 4 bytes.
inline float* RowFloats(char* block) { return reinterpret_cast<float*>(block + kRowHeaderBytes); }

// Notes one more push, of `step`, and returns the new update count.
inline uint32_t CountUpdate(uint64_t step, char* block) {
  RowHeader header = LoadRowHeader(block);
  if (header.update_count < std::numeric_limits<uint32_t>::max()) ++header.update_count;
  header.last_step = std::min(step, kMaxLastStep);
  StoreRowHeader(header, block);
  return header.update_count;
}

}  // namespace rowan

#endif  // ROWAN_COMMON_ROW_FORMAT_H_
