#include "worker/examples/ctr/ctr_dataset.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/data/criteo_layout.h"

namespace rowan {
absl::Status CheckLabelled(const CtrDataset& dataset, const std::string& files) {
  if (dataset.index->size() == 0) return absl::InvalidArgumentError(absl::StrCat(files, ": no rows"));
  if (dataset.layout == CriteoLayout::kUnlabelled) {
    return absl::InvalidArgumentError(
        absl::StrCat(files, ": rows of 39 fields without labels can be predicted, not trained or evaluated on"));
  }
  return absl::OkStatus();
}

absl::StatusOr<CtrDataset> OpenCtrDataset(const std::string& files) {
  ROWAN_ASSIGN_OR_RETURN(LineIndex index, OpenCriteoRows(files));
  CtrDataset dataset;
  dataset.layout = DetectLayout(index);
  dataset.end = index.size();
  dataset.index = std::make_shared<const LineIndex>(std::move(index));
  return dataset;
}

absl::StatusOr<CtrSplit> OpenCtrSplit(const std::string& files, const std::string& test_files) {
  CtrSplit split;
  ROWAN_ASSIGN_OR_RETURN(split.train, OpenCtrDataset(files));
  ROWAN_RETURN_IF_ERROR(CheckLabelled(split.train, files));
  if (!test_files.empty()) {
    ROWAN_ASSIGN_OR_RETURN(split.test, OpenCtrDataset(test_files));
    ROWAN_RETURN_IF_ERROR(CheckLabelled(split.test, test_files));
    return split;
  }
  split.test = split.train;
  split.test.begin = split.train.end = split.train.rows() - split.train.rows() / 5;
  return split;
}

}  // namespace rowan
