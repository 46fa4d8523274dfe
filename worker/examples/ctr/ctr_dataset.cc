#include "worker/examples/ctr/ctr_dataset.h"

#include <sys/stat.h>

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/data/criteo_layout.h"
#include "worker/data/file_set.h"

namespace rowan {
namespace {

// InvalidArgument if a file, by whatever path or link, is in both. What cannot be listed is left to those who open it.
absl::Status CheckApart(const std::string& files, const std::string& test_files) {
  const absl::StatusOr<std::vector<std::string>> train = ExpandFiles(files), test = ExpandFiles(test_files);
  if (!train.ok() || !test.ok()) return absl::OkStatus();
  struct stat info;
  std::set<std::pair<dev_t, ino_t>> trained;
  for (const std::string& path : *train) {
    if (stat(path.c_str(), &info) == 0) trained.emplace(info.st_dev, info.st_ino);
  }
  for (const std::string& path : *test) {
    if (stat(path.c_str(), &info) == 0 && trained.count({info.st_dev, info.st_ino}) > 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--test_data: ", path, " is also among --data=", files, ": a test needs rows of its own"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLabelled(const CtrDataset& dataset, absl::string_view flag, const std::string& files) {
  if (dataset.index->size() == 0) return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", files, ": no rows"));
  if (dataset.layout == CriteoLayout::kUnlabelled) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", flag, ": ", files, ": rows of 39 fields without labels can be predicted, not trained or evaluated on"));
  }
  return absl::OkStatus();
}

absl::StatusOr<CtrDataset> OpenCtrDataset(absl::string_view flag, const std::string& files) {
  absl::StatusOr<LineIndex> index = OpenCriteoRows(files);
  if (!index.ok()) {
    // A path through a file that is no directory is FailedPrecondition to the system: a wrong value all the same.
    const absl::StatusCode code =
        absl::IsFailedPrecondition(index.status()) ? absl::StatusCode::kInvalidArgument : index.status().code();
    return absl::Status(code, absl::StrCat("--", flag, ": ", index.status().message()));
  }
  CtrDataset dataset;
  dataset.layout = DetectLayout(*index);
  dataset.end = index->size();
  dataset.index = std::make_shared<const LineIndex>(*std::move(index));
  return dataset;
}

absl::StatusOr<CtrSplit> OpenCtrSplit(const std::string& files, const std::string& test_files) {
  CtrSplit split;
  ROWAN_RETURN_IF_ERROR(CheckApart(files, test_files));
  ROWAN_ASSIGN_OR_RETURN(split.train, OpenCtrDataset("data", files));
  ROWAN_RETURN_IF_ERROR(CheckLabelled(split.train, "data", files));
  if (!test_files.empty()) {
    ROWAN_ASSIGN_OR_RETURN(split.test, OpenCtrDataset("test_data", test_files));
    ROWAN_RETURN_IF_ERROR(CheckLabelled(split.test, "test_data", test_files));
    return split;
  }
  split.test = split.train;
  split.test.begin = split.train.end = split.train.rows() - split.train.rows() / 5;
  return split;
}

}  // namespace rowan
