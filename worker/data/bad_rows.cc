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
  if (static_cast<double>(count) <= max_share_ * static_cast<double>(rows_)) return absl::OkStatus();
  if (first.empty()) first = describe();
  return absl::InvalidArgumentError(
      absl::StrFormat("%d of %d rows are bad (%.4g %%), at most %.4g %% may be; first: %s", count, rows_,
                      100.0 * static_cast<double>(count) / static_cast<double>(rows_), 100 * max_share_, first));
}

int64_t BadRows::count() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(bad_.size());
}

}  // namespace rowan
