#include "worker/train/train_loop.h"

#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/service/local_job.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::ElementsAre;

struct Item {
  int64_t epoch = -1;
  int64_t step = -1;
};

// What the callbacks saw, and where they are to fail.
class TrainLoopTest : public ::testing::TestWithParam<bool> {
 protected:
  using Seen = std::tuple<int64_t, int64_t, int64_t>;  // the step's number, epoch, step of the epoch

  void SetUp() override {
    proto::JobSpec spec;
    spec.set_num_ranks(1);
    spec.set_num_shards(4);
    auto job = LocalJob::Create(spec, /*threads=*/1);
    ASSERT_OK(job);
    job_ = *std::move(job);
    Client::Options options;
    options.coordinator = job_->coordinator();
    options.servers = job_->data_planes();
    auto client = Client::Connect(options);
    ASSERT_OK(client);
    client_ = *std::move(client);
  }

  absl::Status Run(int64_t epochs, int64_t steps) {
    TrainCallbacks<Item> callbacks;
    callbacks.prepare = [&](int64_t epoch, int64_t step, Item* item) {
      if (prepared_++ == fail_prepare_) return absl::DataLossError("prepare failed");
      *item = {epoch, step};
      return absl::OkStatus();
    };
    callbacks.train = [&](Step* step, int64_t epoch, const Item& item, Profile*) -> absl::Status {
      if (static_cast<int64_t>(trained_.size()) == fail_train_) return absl::InternalError("train failed");
      EXPECT_EQ(epoch, item.epoch);
      ROWAN_RETURN_IF_ERROR(step->Pull({}, {}).Wait());
      ROWAN_RETURN_IF_ERROR(step->Push({}, {}, /*weight=*/1).Wait());
      trained_.emplace_back(step->number(), item.epoch, item.step);
      return absl::OkStatus();
    };
    callbacks.after_step = [&] { return ++after_ == fail_after_ ? absl::CancelledError("enough") : absl::OkStatus(); };
    return RunTrainLoop({epochs, steps, /*pipeline=*/GetParam()}, callbacks, client_.get(), &profile_);
  }

  std::unique_ptr<LocalJob> job_;
  std::unique_ptr<Client> client_;
  Profile profile_;
  int64_t fail_prepare_ = -1, fail_train_ = -1, fail_after_ = -1;
  int64_t prepared_ = 0;  // used by one thread, read when it is joined
  int64_t after_ = 0;
  std::vector<Seen> trained_;
};

TEST_P(TrainLoopTest, EveryStepOfEveryEpochComesOnceAndInOrder) {
  ASSERT_OK(Run(/*epochs=*/2, /*steps=*/3));
  EXPECT_THAT(trained_,
              ElementsAre(Seen{0, 0, 0}, Seen{1, 0, 1}, Seen{2, 0, 2}, Seen{3, 1, 0}, Seen{4, 1, 1}, Seen{5, 1, 2}));
  EXPECT_EQ(prepared_, 6);
  EXPECT_EQ(after_, 6);
  EXPECT_EQ(job_->server()->applied(), 6u) << "the client was not finished";
}

TEST_P(TrainLoopTest, NoStepsFinishAtOnce) {
  ASSERT_OK(Run(/*epochs=*/3, /*steps=*/0));
  EXPECT_EQ(prepared_, 0);
  EXPECT_THAT(trained_, ElementsAre());
}

TEST_P(TrainLoopTest, AnErrorOfPrepareEndsItAfterTheStepsBefore) {
  fail_prepare_ = 3;
  EXPECT_THAT(Run(2, 3), StatusIs(absl::StatusCode::kDataLoss, "prepare failed"));
  EXPECT_EQ(trained_.size(), 3u);
  EXPECT_EQ(after_, 3);
}

TEST_P(TrainLoopTest, AnErrorOfTrainEndsItBeforeAfterStep) {
  fail_train_ = 2;
  EXPECT_THAT(Run(2, 3), StatusIs(absl::StatusCode::kInternal, "train failed"));
  EXPECT_EQ(trained_.size(), 2u);
  EXPECT_EQ(after_, 2);
}

TEST_P(TrainLoopTest, AnErrorAfterAStepEndsIt) {
  fail_after_ = 4;
  EXPECT_THAT(Run(2, 3), StatusIs(absl::StatusCode::kCancelled, "enough"));
  EXPECT_EQ(trained_.size(), 4u);
}

TEST_P(TrainLoopTest, AServerThatStopsEndsIt) {
  job_->server()->Stop(absl::CancelledError("rank 1 ended"));
  EXPECT_THAT(Run(2, 3), StatusIs(absl::StatusCode::kCancelled, "rank 1 ended"));
  EXPECT_THAT(trained_, ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(Pipeline, TrainLoopTest, ::testing::Bool());

}  // namespace
}  // namespace rowan
