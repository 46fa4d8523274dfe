#include "worker/client/remote_data_plane.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/served_job.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::From;
using ::rowan::testing::ManyKeys;
using ::rowan::testing::Promise;
using ::rowan::testing::PushAndWait;
using ::rowan::testing::PushOf;
using ::rowan::testing::ServedJob;
using ::rowan::testing::ServedPlane;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TestPull;
using ::rowan::testing::Transport;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

TEST(RemoteDataPlaneTest, BadAddressesAreRefused) {
  EXPECT_THAT(RemoteDataPlane::Create({"no address"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no address")));
}

TEST(RemoteDataPlaneTest, DeadlinesSayWhatWasWaitedFor) {
  ServedJob job(Transport::kTcp, proto::JobSpec::SYNC, 2);
  RemoteDataPlane::Options options = job.ClientOptions();
  options.deadline = absl::Milliseconds(2500);
  const auto plane = RemoteDataPlane::Create(options);
  ASSERT_OK(plane);
  ASSERT_OK(PushAndWait(plane->get(), PushOf(From(0, 0), {1}, 1)).status);
  TestPull pull(From(0, 1), {1});
  pull.request.committed = 1;
  EXPECT_THAT(pull.Run(plane->get()),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       AllOf(HasSubstr(job.address()), HasSubstr("within 2.5s: still waiting for rank 1"))));
  // The server let go of it, and others are not concerned.
  TestPull lookup(From(0, 1), {1});
  EXPECT_OK(lookup.Lookup(plane->get()));
}

TEST(RemoteDataPlaneTest, NobodyThereIsUnavailable) {
  const auto plane = RemoteDataPlane::Create({"127.0.0.1:1"});
  ASSERT_OK(plane);
  HelloReply hello;
  EXPECT_THAT((*plane)->Hello(From(0, 0), &hello), StatusIs(kUnavailable, HasSubstr("server 127.0.0.1:1: ")));
  EXPECT_THAT(PushAndWait(plane->get(), PushOf(From(0, 0), {1}, 1)).status,
              StatusIs(kUnavailable, HasSubstr("127.0.0.1:1")));
}

// Pending calls fail when the server goes, the next ones find the one that comes back.
TEST(RemoteDataPlaneTest, ReconnectsWhenCalledAfterAFailure) {
  ServedJob job(Transport::kLocal, proto::JobSpec::SYNC, 2);
  auto served = std::make_unique<ServedPlane>(job.job()->server(), EngineSizes(job.job()->engine()), Transport::kTcp);
  const std::string address = served->address();
  const auto plane = RemoteDataPlane::Create({address});
  ASSERT_OK(plane);
  ASSERT_OK(PushAndWait(plane->get(), PushOf(From(0, 0), {1}, 1)).status);
  TestPull first(From(0, 1), {1}), second(From(0, 1), {2});
  first.request.committed = second.request.committed = 1;
  first.Start(plane->get());
  second.Start(plane->get());
  HelloReply hello;
  ASSERT_OK((*plane)->Hello(From(0, 0), &hello));  // Both pulls are there.
  served.reset();
  EXPECT_THAT(first.answer.Wait(), StatusIs(kUnavailable, HasSubstr(address)));
  EXPECT_THAT(second.answer.Wait(), StatusIs(kUnavailable, HasSubstr(address)));
  EXPECT_THAT((*plane)->Hello(From(0, 0), &hello), StatusIs(kUnavailable, HasSubstr(address)));

  served = std::make_unique<ServedPlane>(job.job()->server(), EngineSizes(job.job()->engine()), Transport::kTcp,
                                         DataStreamLimits(), address);
  absl::Status status;
  const absl::Time end = absl::Now() + absl::Seconds(30);
  do {
    status = (*plane)->Hello(From(0, 0), &hello);
  } while (absl::IsUnavailable(status) && absl::Now() < end);
  EXPECT_OK(status);
  EXPECT_TRUE(hello.holds_push);
}

TEST(RemoteDataPlaneTest, CallsEndWithTheClient) {
  ServedJob job(Transport::kTcp, proto::JobSpec::SYNC, 2);
  auto plane = RemoteDataPlane::Create(job.ClientOptions());
  ASSERT_OK(plane);
  ASSERT_OK(PushAndWait(plane->get(), PushOf(From(0, 0), {1}, 1)).status);
  TestPull pull(From(0, 1), {1});
  pull.request.committed = 1;
  pull.Start(plane->get());
  plane->reset();
  EXPECT_TRUE(pull.answer.IsSet());
  EXPECT_THAT(pull.answer.Wait(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("closed")));
}

TEST(RemoteDataPlaneTest, ManyCallsInFlightEachGetTheirOwnAnswer) {
  ServedJob job(Transport::kUnix, proto::JobSpec::ASYNC, 1);
  DataPlane* const plane = job.Connect();
  std::vector<std::unique_ptr<TestPull>> pulls;
  for (size_t i = 0; i < 500; ++i) {
    pulls.push_back(std::make_unique<TestPull>(From(0, 0), std::vector<uint64_t>(1 + i % 50, i)));
    pulls.back()->Start(plane);
  }
  for (const auto& pull : pulls) {
    ASSERT_OK(pull->answer.Wait());
    TestPull expected(From(0, 0), pull->keys);
    ASSERT_OK(job.job()->engine()->Pull(expected.request.tables, {}));
    ASSERT_EQ(pull->rows, expected.rows);
  }
}

class SplitTest : public ::testing::Test {
 protected:
  void Start(proto::JobSpec::Mode mode, int64_t limit) {
    DataStreamLimits limits;
    limits.max_message_bytes = limit;
    job = std::make_unique<ServedJob>(Transport::kTcp, mode, 1, limits);
    RemoteDataPlane::Options options = job->ClientOptions();
    options.channel.max_message_bytes = limit;
    auto created = RemoteDataPlane::Create(options);
    ASSERT_OK(created);
    plane = *std::move(created);
  }
  std::unique_ptr<ServedJob> job;
  std::unique_ptr<RemoteDataPlane> plane;
};

TEST_F(SplitTest, PullsOverTheLimitComeInParts) {
  Start(proto::JobSpec::ASYNC, 10 << 20);
  TestPull pull(From(0, 0), ManyKeys(2000000));
  std::vector<Outcome> outcomes(pull.keys.size(), Outcome::kSpilled);
  pull.request.tables[0].outcomes = absl::MakeSpan(outcomes);
  ASSERT_OK(pull.Run(plane.get()));
  TestPull expected(From(0, 0), pull.keys);
  ASSERT_OK(job->job()->engine()->Pull(expected.request.tables, {}));
  EXPECT_EQ(pull.rows, expected.rows);
  EXPECT_THAT(outcomes, Each(Outcome::kAbsent));
}

TEST_F(SplitTest, PartsOfAPullKeepPlacesAndDenseBlocks) {
  Start(proto::JobSpec::ASYNC, 100000);
  TestPull pull(From(0, 0), ManyKeys(50000));
  std::vector<uint32_t> places(pull.keys.size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = places.size() - 1 - i;
  std::vector<float> first(4096, -7), second(5000 - 4096, -7);
  pull.request.tables[0].places = places;
  pull.request.dense = {{ServedJob::kDense, 0, absl::MakeSpan(first)}, {ServedJob::kDense, 1, absl::MakeSpan(second)}};
  ASSERT_OK(pull.Run(plane.get()));
  TestPull expected(From(0, 0), pull.keys);
  expected.request.tables[0].places = places;
  ASSERT_OK(job->job()->engine()->Pull(expected.request.tables, {}));
  EXPECT_EQ(pull.rows, expected.rows);
  EXPECT_THAT(first, Each(0));
  EXPECT_THAT(second, Each(0));
}

TEST_F(SplitTest, PartsOfAPushAreOnePush) {
  for (const auto mode : {proto::JobSpec::ASYNC, proto::JobSpec::SYNC}) {
    Start(mode, 200000);
    const std::vector<uint64_t> keys = ManyKeys(50000);
    TestPull before(From(0, 0), keys);
    ASSERT_OK(before.Lookup(plane.get()));
    for (const bool again : {false, true}) {
      const PushReply reply = PushAndWait(plane.get(), PushOf(From(0, 0), keys, 0.5));
      ASSERT_OK(reply.status);
      EXPECT_EQ(reply.outcomes.size(), ServedJob::kShards);
      EXPECT_THAT(reply.outcomes, Each(again                          ? SectionOutcome::kDuplicate
                                       : mode == proto::JobSpec::SYNC ? SectionOutcome::kHeld
                                                                      : SectionOutcome::kApplied));
    }
    TestPull after(From(0, 1), keys);
    after.request.committed = 1;
    ASSERT_OK(after.Run(plane.get()));
    for (size_t i = 0; i < after.rows.size(); ++i) ASSERT_EQ(after.rows[i], before.rows[i] - 0.5f);
    plane.reset();
  }
}

TEST_F(SplitTest, SectionsOverTheLimitAreRefused) {
  Start(proto::JobSpec::ASYNC, 100000);
  EXPECT_THAT(PushAndWait(plane.get(), PushOf(From(0, 0), ManyKeys(50000), 0.5)).status,
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("section of shard 0"), HasSubstr("--max_message_bytes is 100000"))));
}

}  // namespace
}  // namespace rowan
