// CtrDataset: the rows that a command works on, opened and checked before anything starts.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CTR_DATASET_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CTR_DATASET_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
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

// All rows of FILES (worker/data/file_set.h).
absl::StatusOr<CtrDataset> OpenCtrDataset(const std::string& files);

// InvalidArgument, naming `files`, if there are no rows or they have no labels.
absl::Status CheckLabelled(const CtrDataset& dataset, const std::string& files);

struct CtrSplit {
  CtrDataset train;
  CtrDataset test;
};

// Labelled rows to train and to test on. Without `test_files` the last fifth of the rows, rounded down, is the test.
// InvalidArgument for rows without labels or files without rows.
absl::StatusOr<CtrSplit> OpenCtrSplit(const std::string& files, const std::string& test_files);

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CTR_DATASET_H_
