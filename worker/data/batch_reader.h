// BatchReader: the batches of one rank, from an index of Criteo rows.
//
// Training reads by (epoch, step), in any order and as often as needed, the same batch each time: Order says which row
// stands at which position, Assignment which positions are this rank's. Evaluation and prediction read ranges of rows
// in the order of the files. Bad rows are left out, counted and reported as bad_rows.h says. Thread-safe; holds no lock
// while it reads.
#ifndef ROWAN_WORKER_DATA_BATCH_READER_H_
#define ROWAN_WORKER_DATA_BATCH_READER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/data/assignment.h"
#include "worker/data/bad_rows.h"
#include "worker/data/batch.h"
#include "worker/data/criteo.h"
#include "worker/data/criteo_features.h"
#include "worker/data/line_index.h"

namespace rowan {

struct BatchReaderOptions {
  CriteoLayout layout = CriteoLayout::kLabelled;
  // The epoch's rows are first_row .. end_row-1 of the index; -1 means its end.
  int64_t first_row = 0;
  int64_t end_row = -1;
  uint64_t seed = 0;
  int64_t window = 0;         // Rows, see order.h.
  int64_t batch_size = 2048;  // Global: samples of all ranks in a step.
  int rank = 0;
  int num_ranks = 1;
  // Of the rows of an epoch, over all ranks, the part that may be bad, 0 to 1: see bad_rows.h.
  double max_bad_share = 0.01;
  // Told of the first bad row; null means a warning in the log.
  std::function<void(const std::string&)> report_bad_row;
};

class BatchReader {
 public:
  // `index` must outlive the reader. REQUIRES: options as order.h and assignment.h require,
  // 0 <= first_row <= end_row <= index->size().
  BatchReader(const LineIndex* index, BatchReaderOptions options);

  // Steps of an epoch; the same for all ranks.
  int64_t steps() const { return assignment_.steps(); }

  // Fills `batch` with this rank's part of `step`, bad rows left out, which may be no rows at all. Returns false, with
  // an empty batch, if the epoch has ended: step >= steps(). InvalidArgument if too many rows are bad.
  absl::StatusOr<bool> Read(int64_t epoch, int64_t step, Batch* batch);

  // Fills `batch` with the good ones of rows begin .. end-1 of the index (whatever first_row and end_row are) in that
  // order, and (*bad)[i], for all end - begin of them, with whether row begin + i is bad. Bad rows count apart from
  // those of Read, once each. InvalidArgument if more than max_bad_share of first_row .. end_row-1 is bad: set
  // that to 1 where each row is to be answered. REQUIRES: 0 <= begin <= end <= index->size().
  absl::Status ReadRange(int64_t begin, int64_t end, Batch* batch, std::vector<bool>* bad);

  // Of Read and of ReadRange.
  const BadRows& epoch_bad_rows() const { return epoch_bad_rows_; }
  const BadRows& range_bad_rows() const { return range_bad_rows_; }

 private:
  // Appends row `row` to `batch` or adds it to `bad_rows`; says which.
  absl::StatusOr<bool> ReadRow(int64_t epoch, int64_t row, BadRows* bad_rows, Batch* batch) const;

  const LineIndex* const index_;
  const BatchReaderOptions options_;  // With end_row >= 0.
  const Assignment assignment_;
  const CriteoFeatures features_;
  BadRows epoch_bad_rows_;
  BadRows range_bad_rows_;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_BATCH_READER_H_
