// BadRows: counts the rows that could not be parsed, reports the first one, and ends a run that has too many.
//
// A row counts once in an epoch however often it is read (a step may be redone); a new epoch counts from zero, as the
// same bad rows come again. Thread-safe.
#ifndef ROWAN_WORKER_DATA_BAD_ROWS_H_
#define ROWAN_WORKER_DATA_BAD_ROWS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/mutex.h"

namespace rowan {

class BadRows {
 public:
  // Of the `job_rows` of an epoch, `rows` of which this rank reads, at most max_share (0 to 1) may be bad. A rank knows
  // its own alone, and chance gives one more of the bad rows than another: so a rank ends the run when it has met more
  // than the whole job may have, or more than 10 and than twice its share. A single rank keeps to max_share exactly.
  // `report` is told of the first bad row ever, in
  // words, without the lock; null means a warning in the log.
  BadRows(int64_t rows, int64_t job_rows, double max_share, std::function<void(const std::string&)> report);

  // Counts `row` of `epoch`. `describe` says where it is and what is wrong, which may take long (it may read a file):
  // asked, without the lock, for the first bad row, and again only by other threads whose bad rows end the run before
  // it is described. InvalidArgument, with count, share, limit and a first bad row, if there are now too many in this
  // epoch.
  absl::Status Add(int64_t epoch, int64_t row, absl::FunctionRef<std::string()> describe) ABSL_LOCKS_EXCLUDED(mu_);

  // Distinct bad rows of the epoch that Add was called for last.
  int64_t count() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const int64_t rows_;
  const int64_t job_rows_;
  const double max_share_;
  const std::function<void(const std::string&)> report_;
  mutable Mutex mu_;
  int64_t epoch_ ABSL_GUARDED_BY(mu_) = -1;
  absl::flat_hash_set<int64_t> bad_ ABSL_GUARDED_BY(mu_);  // Of epoch_.
  bool met_ ABSL_GUARDED_BY(mu_) = false;                  // A bad row, ever.
  std::string first_ ABSL_GUARDED_BY(mu_);                 // That one in words; empty until it is described.
};

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_BAD_ROWS_H_
