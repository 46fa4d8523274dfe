// The contract of DataPlane, one suite for every transport. Instantiate DataPlaneContractTest with transports.
#ifndef ROWAN_TESTS_COMMON_DATA_PLANE_CONTRACT_H_
#define ROWAN_TESTS_COMMON_DATA_PLANE_CONTRACT_H_

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "common/data_plane.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/served_job.h"
#include "tests/status_matchers.h"

namespace rowan {

using ::rowan::testing::From;
using ::rowan::testing::ManyKeys;
using ::rowan::testing::PushAndWait;
using ::rowan::testing::PushOf;
using ::rowan::testing::ServedJob;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TestPull;
using ::testing::Each;
using ::testing::HasSubstr;

class DataPlaneContractTest : public ::testing::TestWithParam<rowan::testing::Transport> {
 protected:
  void Start(proto::JobSpec::Mode mode, uint32_t ranks) {
    job = std::make_unique<ServedJob>(GetParam(), mode, ranks);
    plane = job->Connect();
  }
  // The rows as the server itself has them.
  std::vector<float> Expected(const std::vector<uint64_t>& keys) {
    TestPull pull(From(0, 0), keys);
    EXPECT_OK(job->job()->engine()->Pull(pull.request.tables, {}));
    return pull.rows;
  }
  std::unique_ptr<ServedJob> job;
  DataPlane* plane = nullptr;
};

TEST_P(DataPlaneContractTest, PullsOfNoneOneAndManyKeysGetTheirRows) {
  Start(proto::JobSpec::ASYNC, 1);
  ASSERT_OK(PushAndWait(plane, PushOf(From(0, 0), ManyKeys(5), 0.5)).status);
  for (const size_t n : {0, 1, 100000}) {
    TestPull pull(From(0, 1), ManyKeys(n));
    ASSERT_OK(pull.Run(plane));
    EXPECT_EQ(pull.rows, Expected(pull.keys)) << n;
    TestPull lookup(From(0, 1), ManyKeys(n));
    ASSERT_OK(lookup.Lookup(plane));
    EXPECT_EQ(lookup.rows, pull.rows);
  }
}

TEST_P(DataPlaneContractTest, RowsAndOutcomesGoToTheirPlaces) {
  Start(proto::JobSpec::ASYNC, 1);
  const std::vector<uint64_t> keys = ManyKeys(3);
  ASSERT_OK(PushAndWait(plane, PushOf(From(0, 0), {keys[1]}, 0.5)).status);
  const std::vector<uint32_t> places = {4, 0, 2};
  std::vector<Outcome> outcomes(6, Outcome::kSpilled);
  TestPull pull(From(0, 1), keys);
  pull.rows.assign(6 * ServedJob::kWidth, -7);
  pull.request.tables[0] = {ServedJob::kTable, pull.keys, absl::MakeSpan(pull.rows), absl::MakeSpan(outcomes), places};
  ASSERT_OK(pull.Run(plane));
  const std::vector<float> expected = Expected(keys);
  for (size_t i = 0; i < places.size(); ++i) {
    for (int64_t w = 0; w < ServedJob::kWidth; ++w) {
      EXPECT_EQ(pull.rows[places[i] * ServedJob::kWidth + w], expected[i * ServedJob::kWidth + w]);
    }
  }
  EXPECT_THAT(outcomes, ::testing::ElementsAre(Outcome::kFound, Outcome::kSpilled, Outcome::kAbsent, Outcome::kSpilled,
                                               Outcome::kAbsent, Outcome::kSpilled));
  for (const size_t untouched : {1, 3, 5}) EXPECT_EQ(pull.rows[untouched * ServedJob::kWidth], -7);
}

TEST_P(DataPlaneContractTest, PushesAreAppliedSectionBySectionAndOnce) {
  Start(proto::JobSpec::ASYNC, 1);
  const std::vector<uint64_t> keys = ManyKeys(5000);
  const std::vector<float> before = Expected(keys);
  for (const SectionOutcome outcome : {SectionOutcome::kApplied, SectionOutcome::kDuplicate}) {
    const PushReply reply = PushAndWait(plane, PushOf(From(0, 0), keys, 0.5));
    ASSERT_OK(reply.status);
    EXPECT_EQ(reply.outcomes.size(), ServedJob::kShards);
    EXPECT_THAT(reply.outcomes, Each(outcome));
    EXPECT_EQ(reply.refused_rows, 0u);
  }
  TestPull pull(From(0, 1), keys);
  ASSERT_OK(pull.Run(plane));
  for (size_t i = 0; i < before.size(); ++i) ASSERT_EQ(pull.rows[i], before[i] - 0.5f);
}

TEST_P(DataPlaneContractTest, RefusedRowsAreCounted) {
  Start(proto::JobSpec::ASYNC, 1);
  const PushReply reply = PushAndWait(plane, PushOf(From(0, 0), ManyKeys(7), NAN));
  ASSERT_OK(reply.status);
  EXPECT_EQ(reply.refused_rows, 7u);
}

TEST_P(DataPlaneContractTest, ArraysWithoutAnOwnerMayGoAfterTheAnswer) {
  Start(proto::JobSpec::ASYNC, 1);
  const std::vector<uint64_t> keys = ManyKeys(20000);
  const std::vector<float> before = Expected(keys);
  PushRequest push = PushOf(From(0, 0), keys, 0.25);
  const std::shared_ptr<const void> storage = std::move(push.storage);
  push.storage = nullptr;
  ASSERT_OK(PushAndWait(plane, std::move(push)).status);
  EXPECT_EQ(Expected(keys)[59999], before[59999] - 0.25f);
}

TEST_P(DataPlaneContractTest, DenseBlocksArePulledAndPushed) {
  Start(proto::JobSpec::ASYNC, 1);
  std::vector<float> values(ServedJob::kDenseSize, -7);
  std::vector<float> gradient(ServedJob::kDenseSize, 2);
  const Placement placement(ServedJob::kShards);
  PushRequest push;
  push.header = From(0, 0);
  PullRequest pull;
  pull.header = From(0, 1);
  for (int64_t block = 0; block < DenseBlocks(ServedJob::kDenseSize); ++block) {
    const int64_t size = DenseBlockSize(ServedJob::kDenseSize, block);
    PushSection section;
    section.shard = placement.ShardOfDenseBlock("d", block);
    section.dense.push_back({ServedJob::kDense, static_cast<uint64_t>(block),
                             absl::MakeConstSpan(gradient).subspan(block * kDenseBlockFloats, size)});
    push.sections.push_back(section);
    pull.dense.push_back({ServedJob::kDense, static_cast<uint64_t>(block),
                          absl::MakeSpan(values).subspan(block * kDenseBlockFloats, size)});
  }
  std::sort(push.sections.begin(), push.sections.end(), [](const auto& a, const auto& b) { return a.shard < b.shard; });
  ASSERT_OK(PushAndWait(plane, push).status);
  rowan::testing::Promise<absl::Status> answer;
  plane->Pull(&pull, nullptr, [&](absl::Status status) { answer.Set(status); });
  ASSERT_OK(answer.Wait());
  EXPECT_THAT(values, Each(-2));
}

TEST_P(DataPlaneContractTest, SyncHoldsPushesUntilAllRanksHaveCommitted) {
  Start(proto::JobSpec::SYNC, 2);
  DataPlane* const other = job->Connect();
  HelloReply hello;
  ASSERT_OK(plane->Hello(From(0, 0), &hello));
  EXPECT_EQ(hello.applied, 0u);
  EXPECT_FALSE(hello.holds_push);
  const std::vector<uint64_t> keys = ManyKeys(10);
  const std::vector<float> before = Expected(keys);
  EXPECT_THAT(PushAndWait(plane, PushOf(From(0, 0), keys, 1)).outcomes, Each(SectionOutcome::kHeld));
  EXPECT_THAT(PushAndWait(plane, PushOf(From(0, 0), keys, 1)).outcomes, Each(SectionOutcome::kDuplicate));
  ASSERT_OK(plane->Hello(From(0, 0), &hello));
  EXPECT_TRUE(hello.holds_push);

  TestPull pull(From(0, 1), keys);
  pull.request.committed = 1;
  pull.Start(plane);
  EXPECT_THAT(pull.waits.Wait(), HasSubstr("still waiting for rank 1"));
  EXPECT_FALSE(pull.answer.IsSet());
  // A waiting pull stops nothing, on the same connection neither.
  TestPull lookup(From(0, 1), keys);
  ASSERT_OK(lookup.Lookup(plane));
  EXPECT_EQ(lookup.rows, before);

  EXPECT_THAT(PushAndWait(other, PushOf(From(1, 0), keys, 2)).outcomes, Each(SectionOutcome::kHeld));
  TestPull other_pull(From(1, 1), keys);
  other_pull.request.committed = 1;
  ASSERT_OK(other_pull.Run(other));
  ASSERT_OK(pull.answer.Wait());
  EXPECT_EQ(pull.rows, other_pull.rows);
  EXPECT_EQ(pull.rows, Expected(keys));
  EXPECT_NE(pull.rows, before);
}

TEST_P(DataPlaneContractTest, CancelledPullsSayWhatTheyWaitedFor) {
  Start(proto::JobSpec::SYNC, 2);
  ASSERT_OK(PushAndWait(plane, PushOf(From(0, 0), {1}, 1)).status);
  TestPull pull(From(0, 1), {1, 2});
  pull.request.committed = 1;
  pull.Start(plane);
  plane->CancelPull(&pull.request);
  EXPECT_THAT(pull.answer.Wait(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("rank 1")));
  // One that was answered is left alone, and others too.
  plane->CancelPull(&pull.request);
  TestPull lookup(From(0, 1), {1, 2});
  EXPECT_OK(lookup.Lookup(plane));
}

TEST_P(DataPlaneContractTest, ErrorsAreAnswersAndHarmNoOtherCall) {
  Start(proto::JobSpec::ASYNC, 1);
  TestPull unknown(From(0, 0), {1});
  unknown.request.tables[0].table = 77;
  EXPECT_THAT(unknown.Run(plane), StatusIs(absl::StatusCode::kNotFound, HasSubstr("77")));
  TestPull width(From(0, 0), {1, 2});
  width.rows.resize(8);
  width.request.tables[0].rows = absl::MakeSpan(width.rows);
  EXPECT_THAT(width.Run(plane), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("width 3")));
  TestPull old(From(0, 0), {1});
  old.request.header.generation = 0;
  EXPECT_THAT(old.Run(plane), StatusIs(absl::StatusCode::kAborted, HasSubstr("generation 0")));
  PushRequest misplaced = PushOf(From(0, 0), {1}, 1);
  misplaced.sections[0].shard = (misplaced.sections[0].shard + 1) % ServedJob::kShards;
  EXPECT_THAT(PushAndWait(plane, misplaced).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("belongs to shard")));
  HelloReply hello;
  EXPECT_THAT(plane->Hello(From(5, 0), &hello), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 5")));
  TestPull fine(From(0, 0), {1, 2});
  ASSERT_OK(fine.Run(plane));
  EXPECT_EQ(fine.rows, Expected({1, 2}));
}

}  // namespace rowan

#endif  // ROWAN_TESTS_COMMON_DATA_PLANE_CONTRACT_H_
