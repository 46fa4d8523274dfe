// FindTabs: the delimiters of a tab-separated line, by the widest vectors that this machine has (Highway).
#ifndef ROWAN_WORKER_DATA_TAB_SCAN_H_
#define ROWAN_WORKER_DATA_TAB_SCAN_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace rowan {

// Elements of `tabs` beyond `limit` that FindTabs may overwrite.
inline constexpr int kTabScanSlack = 64;

// Writes the offsets of the first `limit` tabs of `line` to `tabs` in order and returns their number; looks no further
// than it must. Reads no byte outside `line`. REQUIRES: `tabs` has room for limit + kTabScanSlack offsets.
int FindTabs(absl::string_view line, int limit, size_t* tabs);

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_TAB_SCAN_H_
