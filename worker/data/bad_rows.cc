#include "worker/data/bad_rows.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rowan {

BadRows::BadRows(int64_t rows, int64_t job_rows, double max_share, std::function<void(const std::string&)> report)
    : rows_(rows),
      job_rows_(job_rows),
      max_share_(max_share),
      report_(report ? std::move(report) : [](const std::string& message) { LOG(WARNING) << message; }) {}

absl::Status BadRows::Add(int64_t epoch, int64_t row, absl::FunctionRef<std::string()> describe) {
  bool is_first;
  int64_t count;
  std::string first;
  {
    MutexLock lock(&mu_);
    if (epoch != epoch_) {
      epoch_ = epoch;
      bad_.clear();
    }
    bad_.insert(row);
    count = static_cast<int64_t>(bad_.size());
    is_first = !std::exchange(met_, true);
    first = first_;
  }
  if (is_first) {
    first = describe();
    report_(absl::StrCat("bad row left out: ", first));
    MutexLock lock(&mu_);
    first_ = first;
  }
  const double most_of_job = max_share_ * static_cast<double>(job_rows_);
  const double most = std::min(most_of_job, std::max(10.0, 2 * max_share_ * static_cast<double>(rows_)));
  if (static_cast<double>(count) <= most) return absl::OkStatus();
  if (first.empty()) first = describe();
  const std::string of_job = job_rows_ == rows_ ? "" : absl::StrCat(" of the job's ", job_rows_);
  return absl::InvalidArgumentError(absl::StrFormat(
      "%d of %d rows are bad (%.4g %%), at most %.4g %%%s may be; first: %s", count, rows_,
      100.0 * static_cast<double>(count) / static_cast<double>(rows_), 100 * max_share_, of_job, first));
}

int64_t BadRows::count() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(bad_.size());
}

}  // namespace rowan
