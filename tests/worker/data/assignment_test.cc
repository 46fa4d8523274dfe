#include "worker/data/assignment.h"

#include <limits>

#include "gtest/gtest.h"

namespace rowan {
namespace {

TEST(AssignmentTest, GivesEachPositionToExactlyOneRank) {
  for (int64_t rows : {0, 1, 2, 7, 100, 101, 1000}) {
    for (int64_t batch_size : {1, 2, 3, 7, 64, 1000, 5000}) {
      for (int num_ranks : {1, 2, 3, 5, 8, 100}) {
        const int64_t steps = Assignment(rows, batch_size, 0, num_ranks).steps();
        EXPECT_EQ(steps, (rows + batch_size - 1) / batch_size);
        int64_t next = 0;
        for (int64_t step = 0; step < steps; ++step) {
          EXPECT_EQ(next, step * batch_size);
          for (int rank = 0; rank < num_ranks; ++rank) {
            const Assignment assignment(rows, batch_size, rank, num_ranks);
            const Assignment::Range part = assignment.Part(step);
            EXPECT_EQ(part.begin, next);
            EXPECT_GE(part.size(), 0);
            next = part.end;
          }
          EXPECT_EQ(next, Assignment(rows, batch_size, 0, num_ranks).Whole(step).end);
        }
        EXPECT_EQ(next, rows);
      }
    }
  }
}

TEST(AssignmentTest, SplitsAStepEvenly) {
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(Assignment(1000, 23, rank, 5).Part(4).size(), rank < 3 ? 5 : 4);
    EXPECT_EQ(Assignment(2, 23, rank, 5).Part(0).size(), rank < 2 ? 1 : 0);
  }
}

TEST(AssignmentTest, KnowsHowManyRowsARankHas) {
  for (int64_t rows : {0, 1, 99, 100, 107}) {
    for (int rank = 0; rank < 3; ++rank) {
      const Assignment assignment(rows, 10, rank, 3);
      int64_t sum = 0;
      for (int64_t step = 0; step < assignment.steps(); ++step) sum += assignment.Part(step).size();
      EXPECT_EQ(assignment.rank_rows(), sum);
    }
  }
}

TEST(AssignmentTest, IsEmptyBehindTheEnd) {
  const Assignment assignment(100, 30, 1, 2);
  EXPECT_EQ(assignment.Part(3).size(), 5);
  EXPECT_EQ(assignment.Part(4).size(), 0);
  EXPECT_EQ(assignment.Part(std::numeric_limits<int64_t>::max()).begin, 100);
}

TEST(AssignmentTest, CountsIn64Bits) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Assignment(huge, huge, 0, 1).steps(), 1);
  const Assignment last(huge, huge - 1, 999, 1000);
  EXPECT_EQ(last.steps(), 2);
  EXPECT_EQ(last.Part(0).end, huge - 1);
  EXPECT_EQ(last.Whole(1).size(), 1);
  EXPECT_EQ(last.Part(1).size(), 0);
  EXPECT_EQ(Assignment(huge, 2, 1, 2).Part(huge / 2 - 1).end, huge - 1);
}

}  // namespace
}  // namespace rowan
