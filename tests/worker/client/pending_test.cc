#include "worker/client/pending.h"

#include <memory>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;

TEST(PendingTest, GivesTheResultAsOftenAsAsked) {
  Pending done(absl::NotFoundError("x"));
  EXPECT_THAT(done.Wait(), StatusIs(absl::StatusCode::kNotFound, "x"));
  EXPECT_THAT(done.Wait(), StatusIs(absl::StatusCode::kNotFound, "x"));
  Pending moved = std::move(done);
  EXPECT_THAT(moved.Wait(), StatusIs(absl::StatusCode::kNotFound, "x"));
}

TEST(PendingTest, WaitsForAnotherThread) {
  const auto state = std::make_shared<Pending::State>();
  Pending pending(state, absl::InfiniteDuration(), nullptr);
  std::thread finisher([state] { state->Finish(absl::OkStatus()); });
  EXPECT_OK(pending.Wait());
  finisher.join();
}

TEST(PendingTest, ADeadlineCancelsAndSaysWhatWasWaitedFor) {
  const auto state = std::make_shared<Pending::State>();
  int cancelled = 0;
  Pending pending(state, absl::Milliseconds(5), [&] {
    ++cancelled;
    state->Finish(absl::CancelledError("given up while waiting for rank 3"));
  });
  EXPECT_THAT(pending.Wait(),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "no answer within 5ms: given up while waiting for rank 3"));
  EXPECT_EQ(cancelled, 1);
}

TEST(PendingTest, AnAnswerThatBeatsTheCancellationCounts) {
  const auto state = std::make_shared<Pending::State>();
  Pending pending(state, absl::Milliseconds(5), [&] { state->Finish(absl::OkStatus()); });
  EXPECT_OK(pending.Wait());
}

TEST(PendingTest, DyingWaitsForTheAnswerSinceTheSpansAreInUse) {
  const auto state = std::make_shared<Pending::State>();
  bool answered = false;
  std::thread finisher;
  {
    Pending pending(state, absl::InfiniteDuration(), nullptr);
    finisher = std::thread([&, state] {
      answered = true;
      state->Finish(absl::OkStatus());
    });
  }
  EXPECT_TRUE(answered);
  finisher.join();
}

}  // namespace
}  // namespace rowan
