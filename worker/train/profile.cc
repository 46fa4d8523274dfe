#include "worker/train/profile.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace rowan {

std::string Profile::Table(absl::Duration wall, int64_t samples) const {
  constexpr const char* kNames[kPhases] = {"read",    "deduplicate", "wait for data", "pull",
                                           "forward", "backward",    "push"};
  const double total = std::max(1e-9, absl::ToDoubleSeconds(wall));
  std::string table = absl::StrFormat("%-14s %9s %7s %10s\n", "phase", "seconds", "share", "us/sample");
  for (int p = 0; p < kPhases; ++p) {
    const double seconds = absl::ToDoubleSeconds(times_[p]);
    absl::StrAppendFormat(&table, "%-14s %9.3f %6.1f%% %10.3f\n", kNames[p], seconds, 100 * seconds / total,
                          1e6 * seconds / std::max<int64_t>(1, samples));
  }
  return table;
}

}  // namespace rowan
