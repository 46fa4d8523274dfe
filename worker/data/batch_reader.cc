#include "worker/data/batch_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/data/order.h"

namespace rowan {
namespace {

BatchReaderOptions Resolve(const LineIndex& index, BatchReaderOptions options) {
  if (options.end_row < 0) options.end_row = index.size();
  return options;
}

}  // namespace

BatchReader::BatchReader(const LineIndex* index, BatchReaderOptions options)
    : index_(index),
      options_(Resolve(*index, std::move(options))),
      assignment_(options_.end_row - options_.first_row, options_.batch_size, options_.rank, options_.num_ranks),
      epoch_bad_rows_(assignment_.rank_rows(), options_.end_row - options_.first_row, options_.max_bad_share,
                      options_.report_bad_row),
      range_bad_rows_(options_.end_row - options_.first_row, options_.end_row - options_.first_row,
                      options_.max_bad_share, options_.report_bad_row) {}

absl::StatusOr<bool> BatchReader::ReadRow(int64_t epoch, int64_t row, BadRows* bad_rows, Batch* batch) const {
  CriteoRow parsed;
  const absl::Status status = ParseCriteo(index_->Line(row), options_.layout, &parsed);
  if (status.ok()) {
    features_.Append(parsed, row, batch);
    return true;
  }
  ROWAN_RETURN_IF_ERROR(bad_rows->Add(
      epoch, row, [&]() -> std::string { return absl::StrCat(index_->Where(row), ": ", status.message()); }));
  return false;
}

absl::StatusOr<bool> BatchReader::Read(int64_t epoch, int64_t step, Batch* batch) {
  const Order order(options_.end_row - options_.first_row, options_.seed, epoch, options_.window);
  const Assignment::Range part = assignment_.Part(step);
  batch->Begin(part.size());
  constexpr int64_t kAhead = 8;  // Shuffled rows are not in the cache: ask for them some rows before.
  int64_t rows[kAhead];
  for (int64_t position = part.begin; position < part.end + kAhead; ++position) {
    int64_t& slot = rows[position % kAhead];
    if (position >= part.begin + kAhead) {
      ROWAN_RETURN_IF_ERROR(ReadRow(epoch, slot, &epoch_bad_rows_, batch).status());
    }
    if (position < part.end) {
      slot = options_.first_row + order.RowAt(position);
      index_->Prefetch(slot);
    }
  }
  batch->Finish();
  return step < assignment_.steps();
}

absl::Status BatchReader::ReadRange(int64_t begin, int64_t end, Batch* batch, std::vector<bool>* bad) {
  batch->Begin(end - begin);
  bad->assign(end - begin, false);
  for (int64_t row = begin; row < end; ++row) {
    ROWAN_ASSIGN_OR_RETURN(const bool good, ReadRow(/*epoch=*/0, row, &range_bad_rows_, batch));
    (*bad)[row - begin] = !good;
  }
  batch->Finish();
  return absl::OkStatus();
}

}  // namespace rowan
