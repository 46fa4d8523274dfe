// CtrDataset: the rows that a command works on, opened and checked before anything starts.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CTR_DATASET_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CTR_DATASET_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/data/criteo.h"
#include "worker/data/line_index.h"

namespace rowan {

// Rows [begin, end) of an index. Cheap to copy; immutable.
struct CtrDataset {
  std::shared_ptr<const LineIndex> index;
  CriteoLayout layout = CriteoLayout::kLabelled;
  int64_t begin = 0;
  int64_t end = 0;

  int64_t rows() const { return end - begin; }
};

// All rows of FILES (worker/data/file_set.h), the value of --`flag`. Errors begin with the flag; those of a path that
// names nothing are NotFound, PermissionDenied or InvalidArgument.
absl::StatusOr<CtrDataset> OpenCtrDataset(absl::string_view flag, const std::string& files);

// InvalidArgument, naming flag and files, if there are no rows or they have no labels.
absl::Status CheckLabelled(const CtrDataset& dataset, absl::string_view flag, const std::string& files);

struct CtrSplit {
  CtrDataset train;
  CtrDataset test;
};

// Labelled rows to train and to test on: the values of --data and --test_data. Without `test_files` the last fifth of
// the rows, rounded down, is the test. InvalidArgument for rows without labels, files without rows, and a file that is
// in both.
absl::StatusOr<CtrSplit> OpenCtrSplit(const std::string& files, const std::string& test_files);

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CTR_DATASET_H_
