#include "worker/data/bad_rows.h"

#include <glog/logging.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rowan {

BadRows::BadRows(int64_t rows, double max_share, std::function<void(const std::string&)> report)
    : rows_(rows),
      max_share_(max_share),
      report_(report ? std::move(report) : [](const std::string& message) { LOG(WARNING) << message; }) {}

absl::Status BadRows::Add(int64_t epoch, int64_t row, absl::FunctionRef<std::string()> describe) {
  MutexLock lock(&mu_);
  if (epoch != epoch_) {
    epoch_ = epoch;
    bad_.clear();
  }
  bad_.insert(row);
  if (first_.empty()) {
    first_ = describe();
    report_(absl::StrCat("bad row left out: ", first_));
  }
  const auto count = static_cast<double>(bad_.size());
  const auto rows = static_cast<double>(rows_);
  if (count <= max_share_ * rows) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%d of %d rows are bad (%.4g %%), at most %.4g %% may be; first: %s", bad_.size(), rows_,
                      100 * count / rows, 100 * max_share_, first_));
}

int64_t BadRows::count() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(bad_.size());
}

std::string BadRows::first() const {
  MutexLock lock(&mu_);
  return first_;
}

}  // namespace rowan
