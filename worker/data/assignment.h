// Assignment: which positions of an epoch's sequence one rank reads in one step.
//
// Step t of an epoch of N rows is the positions tB .. min((t+1)B, N)-1, B the global batch; there are ceil(N/B) steps,
// the last one may be smaller. Of n positions in a step, rank r of R has n/R in order of rank, the first n%R ranks one
// more: with fewer positions than ranks the last ranks have none, and still take part in the step. A pure function, in
// 64 bits throughout.
#ifndef ROWAN_WORKER_DATA_ASSIGNMENT_H_
#define ROWAN_WORKER_DATA_ASSIGNMENT_H_

#include <cstdint>

namespace rowan {

class Assignment {
 public:
  // REQUIRES: rows >= 0, batch_size >= 1, 0 <= rank < num_ranks.
  Assignment(int64_t rows, int64_t batch_size, int rank, int num_ranks);

  // Steps of an epoch; 0 if there are no rows.
  int64_t steps() const;

  struct Range {
    int64_t begin;
    int64_t end;
    int64_t size() const { return end - begin; }
  };
  // All positions of `step`, and this rank's; empty from steps() on. REQUIRES: step >= 0.
  Range Whole(int64_t step) const;
  Range Part(int64_t step) const;

  // Positions that this rank has in an epoch.
  int64_t rank_rows() const;

 private:
  int64_t PartSize(int64_t n) const { return n / num_ranks_ + (rank_ < n % num_ranks_ ? 1 : 0); }

  int64_t rows_;
  int64_t batch_size_;
  int64_t rank_;
  int64_t num_ranks_;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_ASSIGNMENT_H_
