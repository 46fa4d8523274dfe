#include "worker/data/assignment.h"

#include <algorithm>

namespace rowan {

Assignment::Assignment(int64_t rows, int64_t batch_size, int rank, int num_ranks)
    : rows_(rows), batch_size_(batch_size), rank_(rank), num_ranks_(num_ranks) {}

int64_t Assignment::steps() const { return rows_ / batch_size_ + (rows_ % batch_size_ != 0 ? 1 : 0); }

Assignment::Range Assignment::Whole(int64_t step) const {
  if (step >= steps()) return {rows_, rows_};
  const int64_t begin = step * batch_size_;
  return {begin, begin + std::min(batch_size_, rows_ - begin)};
}

Assignment::Range Assignment::Part(int64_t step) const {
  const Range whole = Whole(step);
  const int64_t before = whole.size() / num_ranks_ * rank_ + std::min(rank_, whole.size() % num_ranks_);
  const int64_t begin = whole.begin + before;
  return {begin, begin + PartSize(whole.size())};
}

int64_t Assignment::rank_rows() const {
  return rows_ / batch_size_ * PartSize(batch_size_) + PartSize(rows_ % batch_size_);
}

}  // namespace rowan
