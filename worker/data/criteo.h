// ParseCriteo: one line of Criteo TSV, the format of the click logs that Criteo published.
//
//   label <TAB> I1 <TAB> ... I13 <TAB> C1 <TAB> ... C26        kLabelled,   40 fields
//               I1 <TAB> ... I13 <TAB> C1 <TAB> ... C26        kUnlabelled, 39 fields
//
//   label      0 or 1
//   I1..I13    a decimal integer of 64 bits with an optional sign, or empty: missing
//   C1..C26    1 to 16 hexadecimal digits of either case, or empty
//
// Fields that a line lacks at its end are empty: writers trim trailing tabs. Anything else makes a bad row.
#ifndef ROWAN_WORKER_DATA_CRITEO_H_
#define ROWAN_WORKER_DATA_CRITEO_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace rowan {

enum class CriteoLayout { kLabelled, kUnlabelled };

inline constexpr int kCriteoIntegers = 13;
inline constexpr int kCriteoCategoricals = 26;

struct CriteoRow {
  int label;  // 0 or 1; 0 if the layout has none.
  // integers[i] is I(i+1), 0 where bit i of `missing` is set.
  int64_t integers[kCriteoIntegers];
  uint32_t missing;
  // categoricals[i] is C(i+1), within the line.
  absl::string_view categoricals[kCriteoCategoricals];
};

// Parses `line`, which has no line ending. InvalidArgument names the field and what it holds, as in
//   C12: bad hex "4z"     I3: bad integer "1.5"     label: "2" is neither 0 nor 1
// and leaves `row` in no particular state. Allocates nothing unless the row is bad. Thread-safe.
absl::Status ParseCriteo(absl::string_view line, CriteoLayout layout, CriteoRow* row);

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_CRITEO_H_
