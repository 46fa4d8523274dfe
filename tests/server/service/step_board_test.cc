#include "server/service/step_board.h"

#include <map>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;
constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;
constexpr auto kAborted = absl::StatusCode::kAborted;

proto::JobSpec JobOf(proto::JobSpec::Mode mode, uint32_t ranks, uint32_t staleness = 0) {
  proto::JobSpec job;
  job.set_mode(mode);
  job.set_num_ranks(ranks);
  job.set_num_shards(1);
  job.set_staleness(staleness);
  return job;
}

RequestHeader From(uint32_t rank, uint64_t step, uint32_t incarnation = 1) {
  RequestHeader header;
  header.generation = 1;
  header.rank = rank;
  header.incarnation = incarnation;
  header.number = step;
  return header;
}

// Offers a push that must be accepted.
SectionOutcome Offer(StepBoard* board, const RequestHeader& header) {
  SectionOutcome outcome = SectionOutcome::kApplied;
  EXPECT_OK(board->Admit(header));
  EXPECT_OK(board->Offer(header, &outcome));
  return outcome;
}

TEST(StepBoardTest, AStepIsAppliedOnlyWithEveryPushAndEveryCommit) {
  StepBoard board(JobOf(proto::JobSpec::SYNC, 2), 0);
  EXPECT_FALSE(board.ReadyToApply());
  EXPECT_EQ(Offer(&board, From(0, 0)), SectionOutcome::kHeld);
  EXPECT_OK(board.Commit(0, 1, false));
  EXPECT_FALSE(board.ReadyToApply()) << "rank 1 has not pushed";
  EXPECT_EQ(board.WaitsFor(1), "rank 1 (push of step 0)");
  EXPECT_EQ(Offer(&board, From(1, 0)), SectionOutcome::kHeld);
  EXPECT_FALSE(board.ReadyToApply()) << "rank 1 has not committed";
  EXPECT_EQ(board.WaitsFor(1), "rank 1 (commit of step 0)");
  EXPECT_OK(board.Commit(1, 1, false));
  EXPECT_TRUE(board.ReadyToApply());
  EXPECT_EQ(board.WaitsFor(1), "step 0 to be applied");
  EXPECT_FALSE(board.MayRead(1));
  board.BeginApply();
  EXPECT_FALSE(board.ReadyToApply()) << "no step is applied twice";
  EXPECT_FALSE(board.MayRead(1));
  board.MarkApplied();
  EXPECT_TRUE(board.MayRead(1));
  EXPECT_FALSE(board.MayRead(2));
  EXPECT_FALSE(board.ReadyToApply());
  EXPECT_EQ(board.applied(), 1u);
}

TEST(StepBoardTest, TheSamePushAgainIsADuplicate) {
  StepBoard board(JobOf(proto::JobSpec::SYNC, 1), 5);
  EXPECT_EQ(Offer(&board, From(0, 5)), SectionOutcome::kHeld);
  EXPECT_EQ(Offer(&board, From(0, 5)), SectionOutcome::kDuplicate);
  EXPECT_OK(board.Commit(0, 6, false));
  EXPECT_EQ(Offer(&board, From(0, 5)), SectionOutcome::kDuplicate) << "committed";
  board.BeginApply();
  EXPECT_EQ(Offer(&board, From(0, 5)), SectionOutcome::kDuplicate) << "being applied";
  board.MarkApplied();
  EXPECT_EQ(Offer(&board, From(0, 5)), SectionOutcome::kDuplicate) << "applied";
  SectionOutcome outcome;
  EXPECT_THAT(board.Offer(From(0, 7), &outcome), StatusIs(kFailed, "rank 0 pushed step 7 before step 6 was applied"));
  EXPECT_THAT(board.Offer(From(kFirstToolRank, 6), &outcome), StatusIs(kFailed, HasSubstr("not bare ones")));
}

TEST(StepBoardTest, ALaterIncarnationsPushReplacesOneThatIsNotCommitted) {
  StepBoard board(JobOf(proto::JobSpec::SYNC, 2), 0);
  EXPECT_EQ(Offer(&board, From(0, 0, 1)), SectionOutcome::kHeld);
  EXPECT_EQ(Offer(&board, From(0, 0, 2)), SectionOutcome::kHeld);
  EXPECT_EQ(Offer(&board, From(0, 0, 2)), SectionOutcome::kDuplicate);
  EXPECT_THAT(board.Admit(From(0, 0, 1)), StatusIs(kAborted, "rank 0 incarnation 1 was replaced by incarnation 2"));
  EXPECT_TRUE(board.IsFenced(From(0, 0, 1)));
  EXPECT_FALSE(board.IsFenced(From(0, 0, 2)));
  EXPECT_OK(board.Commit(0, 1, false));
  // What every server acknowledged stays: another server may have applied it.
  SectionOutcome outcome;
  ASSERT_OK(board.Admit(From(0, 0, 3)));
  EXPECT_EQ(board.Hello(0).committed, 1u);
  EXPECT_THAT(board.Offer(From(0, 0, 3), &outcome),
              StatusIs(kFailed, "rank 0 incarnation 3 pushed step 0, which incarnation 2 has committed"));
  EXPECT_EQ(Offer(&board, From(1, 0)), SectionOutcome::kHeld);
  EXPECT_OK(board.Commit(1, 1, false));
  ASSERT_TRUE(board.ReadyToApply());
  board.BeginApply();
  EXPECT_THAT(board.Offer(From(0, 0, 3), &outcome), StatusIs(kFailed, HasSubstr("has committed")));
}

TEST(StepBoardTest, HelloTellsWhatARestartNeeds) {
  StepBoard board(JobOf(proto::JobSpec::SYNC, 2), 3);
  EXPECT_EQ(board.Hello(0).applied, 3u);
  EXPECT_FALSE(board.Hello(0).holds_push);
  EXPECT_EQ(board.Hello(0).committed, 3u);
  EXPECT_EQ(Offer(&board, From(0, 3)), SectionOutcome::kHeld);
  EXPECT_TRUE(board.Hello(0).holds_push);
  EXPECT_OK(board.Commit(0, 4, false));
  EXPECT_EQ(board.Hello(0).committed, 4u);
  EXPECT_FALSE(board.Hello(1).holds_push);
  EXPECT_EQ(board.Hello(kFirstToolRank).applied, 3u);
}

TEST(StepBoardTest, ACommitOfAPushThatIsNotHereIsRefused) {
  StepBoard board(JobOf(proto::JobSpec::SYNC, 1), 4);
  EXPECT_OK(board.Commit(0, 2, false)) << "a late one says nothing new";
  EXPECT_THAT(board.Commit(0, 5, false),
              StatusIs(kFailed,
                       "rank 0 counts its push of step 4 as acknowledged, which is not here: step 4 is the "
                       "next to be applied"));
  EXPECT_THAT(board.Commit(0, ~uint64_t{0}, true), StatusIs(kFailed, HasSubstr("not here")));
  EXPECT_EQ(Offer(&board, From(0, 4)), SectionOutcome::kHeld);
  EXPECT_FALSE(board.ReadyToApply()) << "the refused commits left nothing behind";
  EXPECT_OK(board.Commit(0, 5, false));
  EXPECT_TRUE(board.ReadyToApply());
}

TEST(StepBoardTest, PullsOfAppliedStepsAreRefused) {
  StepBoard board(JobOf(proto::JobSpec::SYNC, 1), 4);
  EXPECT_THAT(board.CheckPull(3), StatusIs(kAborted, "pull of step 3, which is applied: go on with step 4"));
  EXPECT_OK(board.CheckPull(4));
  EXPECT_OK(board.CheckPull(9));
  Offer(&board, From(0, 4));
  EXPECT_OK(board.Commit(0, 5, false));
  EXPECT_OK(board.CheckPull(4));
  board.BeginApply();
  EXPECT_THAT(board.CheckPull(4), StatusIs(kAborted, HasSubstr("go on with step 5")));
  EXPECT_OK(board.CheckPull(5));
}

TEST(StepBoardTest, NobodyWaitsForARankThatHasFinished) {
  StepBoard board(JobOf(proto::JobSpec::SYNC, 2), 0);
  EXPECT_OK(board.Commit(1, 0, /*last=*/true));
  EXPECT_FALSE(board.ReadyToApply()) << "an empty step is none";
  Offer(&board, From(0, 0));
  EXPECT_FALSE(board.ReadyToApply());
  EXPECT_OK(board.Commit(0, 1, false));
  ASSERT_TRUE(board.ReadyToApply());
  SectionOutcome outcome;
  EXPECT_THAT(board.Offer(From(1, 0), &outcome), StatusIs(kFailed, "rank 1 pushed step 0 after it had finished"));
  board.BeginApply();
  // Its next incarnation comes too late for this step, and is waited for in the next one.
  ASSERT_OK(board.Admit(From(1, 0, 2)));
  EXPECT_THAT(board.Offer(From(1, 0, 2), &outcome),
              StatusIs(kAborted, "step 0 is being applied without rank 1: go on with step 1"));
  board.MarkApplied();
  Offer(&board, From(0, 1));
  EXPECT_OK(board.Commit(0, 2, /*last=*/true));
  EXPECT_FALSE(board.ReadyToApply());
  EXPECT_EQ(board.WaitsFor(2), "rank 1 (push of step 1)");
  EXPECT_OK(board.Commit(1, 1, /*last=*/true));
  EXPECT_TRUE(board.ReadyToApply());
}

TEST(StepBoardTest, UnknownRanksAreRefused) {
  StepBoard board(JobOf(proto::JobSpec::SYNC, 2), 0);
  EXPECT_THAT(board.Admit(From(2, 0)),
              StatusIs(absl::StatusCode::kInvalidArgument, "rank 2: this job has ranks 0 to 1"));
  EXPECT_OK(board.Admit(From(kFirstToolRank, 0)));
  EXPECT_OK(board.Admit(From(~uint32_t{0}, 0)));
}

// bounded:s, random arrivals: a pull may read exactly when every unfinished rank's pushes of all steps < t - s are
// here.
TEST(StepBoardTest, BoundedWaitsForExactlyWhatItMust) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const uint32_t ranks = 1 + random() % 4;
    const uint32_t staleness = random() % 4;
    const uint64_t start = random() % 2 * 100;
    StepBoard board(JobOf(proto::JobSpec::BOUNDED, ranks, staleness), start);
    std::vector<std::set<uint64_t>> arrived(ranks);
    std::vector<bool> finished(ranks, false);
    for (int op = 0; op < 60; ++op) {
      const uint32_t rank = random() % ranks;
      if (random() % 40 == 0) {
        finished[rank] = true;
        EXPECT_OK(board.Commit(rank, start + 99, true)) << "commits mean nothing here";
      } else if (!finished[rank]) {
        const uint64_t step = start + random() % 12;  // In any order, repeated too.
        arrived[rank].insert(step);
        board.MarkArrived(rank, step);
      }
      for (uint64_t step = start; step < start + 16; ++step) {
        bool may = true;
        for (uint32_t r = 0; r < ranks; ++r) {
          for (uint64_t s = start; s + staleness < step; ++s) may &= finished[r] || arrived[r].count(s) > 0;
        }
        ASSERT_EQ(board.MayRead(step), may) << "seed " << seed << " step " << step;
        ASSERT_EQ(board.WaitsFor(step).find("rank ") == std::string::npos, may) << board.WaitsFor(step);
      }
    }
  }
}

TEST(StepBoardTest, AsyncNeverWaits) {
  StepBoard board(JobOf(proto::JobSpec::ASYNC, 3), 0);
  EXPECT_TRUE(board.MayRead(0));
  EXPECT_TRUE(board.MayRead(~uint64_t{0}));
  EXPECT_FALSE(board.is_sync());
}

}  // namespace
}  // namespace rowan
