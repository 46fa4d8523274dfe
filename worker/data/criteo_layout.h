// What a set of Criteo files is, told from its first rows: where a header stands, and whether rows have labels.
#ifndef ROWAN_WORKER_DATA_CRITEO_LAYOUT_H_
#define ROWAN_WORKER_DATA_CRITEO_LAYOUT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/data/criteo.h"
#include "worker/data/line_index.h"

namespace rowan {

// True if `line`, the first of its file, names columns: its first field is neither empty nor a number, and of the next
// 12 fields, integers in both layouts, at least one holds something and none holds an integer. A row with only a bad
// label is thus not taken for a header, nor is a lone word.
bool IsCriteoHeader(absl::string_view line);

// Opens and indexes every file that `files` names (see file_set.h), headers left out. Errors are those of ExpandFiles
// and TextFile::Open.
absl::StatusOr<LineIndex> OpenCriteoRows(absl::string_view files);

// Whether the rows of `index` have labels. Counting fields cannot tell: a labelled row whose last tab was trimmed has
// 39, as an unlabelled one has. So each of the first 1,000 rows is parsed both ways. A row good in one layout only is a
// vote for it: a row of 40 fields has a label; an unlabelled one seldom passes as labelled, since I1 must be 0 or 1 and
// C1 must be a decimal number. The majority decides; without votes either way (no rows, or all so short and plain that
// they pass as both) rows are taken to have labels.
CriteoLayout DetectLayout(const LineIndex& index);

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_CRITEO_LAYOUT_H_
