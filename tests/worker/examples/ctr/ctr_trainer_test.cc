#include "worker/examples/ctr/ctr_trainer.h"

#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/service/local_job.h"
#include "tests/status_matchers.h"
#include "worker/nn/gemm.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::ContainsRegex;

std::string WriteRows(int rows) {
  const std::string path = ::testing::TempDir() + "/rows.tsv";
  std::ofstream out(path);
  std::mt19937 random(1);
  for (int i = 0; i < rows; ++i) {
    out << random() % 2;
    for (int k = 0; k < 13; ++k) out << '\t' << random() % 100;
    for (int c = 0; c < 26; ++c) out << '\t' << std::hex << random() % 50 << std::dec;
    out << '\n';
  }
  return path;
}

absl::StatusOr<CtrTrainResult> RunTraining(const CtrTrainOptions& options, const CtrDataset& dataset,
                                           const std::function<absl::Status(CtrProgress*)>& after_step) {
  proto::JobSpec spec;
  spec.set_num_ranks(1);
  spec.set_num_shards(4);
  ROWAN_ASSIGN_OR_RETURN(const auto job, LocalJob::Create(spec, 1));
  ThreadPool pool(1, UseOneThreadPerProduct);
  Client::Options client;
  client.coordinator = job->coordinator();
  client.servers = job->data_planes();
  ROWAN_ASSIGN_OR_RETURN(const auto connected, Client::Connect(client));
  return TrainCtr(options, dataset, &pool, connected.get(), after_step);
}

CtrTrainOptions SmallOptions() {
  CtrTrainOptions options;
  options.model = DefaultCtrModelSpec();
  options.model.set_embedding_width(2);
  options.batch_size = 30;
  return options;
}

TEST(CtrTrainerTest, ProgressCountsEveryStepAndSample) {
  const auto dataset = OpenCtrDataset("data", WriteRows(100));
  ASSERT_OK(dataset);
  CtrTrainOptions options = SmallOptions();
  options.epochs = 2;
  std::vector<int64_t> samples;
  const auto result = RunTraining(options, *dataset, [&](CtrProgress* progress) {
    EXPECT_EQ(progress->total_steps, 8);
    EXPECT_EQ(progress->loss_samples, progress->samples);
    EXPECT_GT(progress->loss, 0);
    samples.push_back(progress->samples);
    EXPECT_EQ(progress->step, static_cast<int64_t>(samples.size()));
    return absl::OkStatus();
  });
  ASSERT_OK(result);
  EXPECT_THAT(samples, ::testing::ElementsAre(30, 60, 90, 100, 130, 160, 190, 200));
  EXPECT_EQ(result->samples, 200);
  EXPECT_EQ(result->steps, 8);
}

// The first step's rates carry values beyond what a float holds in the second one.
TEST(CtrTrainerTest, ALossThatIsNotFiniteEndsItNamingStepRankAndLine) {
  const std::string path = WriteRows(100);
  const auto dataset = OpenCtrDataset("data", path);
  ASSERT_OK(dataset);
  CtrTrainOptions options = SmallOptions();
  options.rates.rows = options.rates.dense = 1e9f;
  options.epochs = 10;
  int64_t steps = 0;
  const auto result = RunTraining(options, *dataset, [&](CtrProgress* progress) {
    steps = progress->step;
    return absl::OkStatus();
  });
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInternal,
                               ContainsRegex(absl::StrCat("^the loss is not finite at step ", steps,
                                                          ", rank 0, epoch 0: ", path, ":[0-9]+ of the samples from ",
                                                          path, ":[0-9]+ to ", path, ":[0-9]+; try a lower"))));
}

TEST(CtrTrainerTest, RatesOfZeroLeaveTheModelAsItStarted) {
  const auto dataset = OpenCtrDataset("data", WriteRows(60));
  ASSERT_OK(dataset);
  std::vector<double> losses;
  for (const float rate : {0.0f, 0.05f}) {
    CtrTrainOptions options = SmallOptions();
    options.rates.rows = options.rates.dense = rate;
    options.batch_size = 60;
    options.epochs = 2;
    ASSERT_OK(RunTraining(options, *dataset, [&](CtrProgress* progress) {
      losses.push_back(progress->loss);
      progress->loss = 0;
      return absl::OkStatus();
    }));
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_NE(losses[2], losses[3]);
  EXPECT_EQ(losses[0], losses[2]);
}

}  // namespace
}  // namespace rowan
