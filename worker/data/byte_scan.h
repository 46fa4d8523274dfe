// Scans over the bytes of a tab-separated line, by the widest vectors that this machine has (Highway). Neither reads a
// byte outside the line.
#ifndef ROWAN_WORKER_DATA_BYTE_SCAN_H_
#define ROWAN_WORKER_DATA_BYTE_SCAN_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace rowan {

// Elements of `tabs` beyond `limit` that FindTabs may overwrite.
inline constexpr int kTabScanSlack = 64;

// Writes the offsets of the first `limit` tabs of `line` to `tabs` in order and returns their number; looks no further
// than it must. REQUIRES: `tabs` has room for limit + kTabScanSlack offsets.
int FindTabs(absl::string_view line, int limit, size_t* tabs);

// True if every byte is one of 0-9, A-F, a-f or a tab.
bool IsHexOrTabs(absl::string_view bytes);

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_BYTE_SCAN_H_
