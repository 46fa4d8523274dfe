#include "server/service/local_job.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/table/engine_fixture.h"
#include "tests/server/table/keys.h"
#include "tests/status_matchers.h"
#include "worker/client.h"

namespace rowan {
namespace {

using ::rowan::testing::DenseOf;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TableOf;
using ::testing::HasSubstr;

proto::JobSpec Spec(proto::JobSpec::Mode mode) {
  proto::JobSpec spec;
  spec.set_mode(mode);
  spec.set_num_ranks(1);
  spec.set_num_shards(16);
  spec.set_seed(3);
  return spec;
}

std::unique_ptr<Client> Connect(LocalJob* job, bool takes_part, uint64_t first_step = 0) {
  Client::Options options;
  options.coordinator = job->coordinator();
  options.servers = job->data_planes();
  options.takes_part = takes_part;
  options.first_step = first_step;
  auto client = Client::Connect(options);
  EXPECT_OK(client);
  return client.ok() ? *std::move(client) : nullptr;
}

// Steps with gradients that depend on what was pulled.
void Train(Client* client, int steps) {
  const Table table = *client->OpenTable(TableOf("t", 3, proto::Optimizer::ADAM));
  const Dense dense = *client->OpenDense(DenseOf("d", 5000, proto::Optimizer::ADAGRAD));
  for (int i = 0; i < steps; ++i) {
    Step step = *client->BeginStep();
    std::vector<uint64_t> keys = testing::OddKeys();
    keys.push_back(step.number());
    std::vector<float> rows(keys.size() * 3), values(5000);
    ASSERT_OK(step.Pull({{table, keys, absl::MakeSpan(rows)}}, {{dense, absl::MakeSpan(values)}}).Wait());
    for (float& value : values) value += 0.5f + step.number();
    ASSERT_OK(step.Push({{table, keys, rows}}, {{dense, values}}, 7).Wait());
  }
  ASSERT_OK(client->Finish());
}

// Writes a snapshot and restores it.
std::unique_ptr<LocalJob> Reborn(LocalJob* job, proto::JobSpec::Mode mode, uint64_t step, const std::string& name) {
  LocalJob::SnapshotInfo info;
  info.position.set_step(step);
  const auto path = job->WriteSnapshot(::testing::TempDir() + "/local_job_test." + name, info);
  EXPECT_OK(path);
  const auto reader = SnapshotReader::Open(rocksdb::Env::Default(), *path);
  EXPECT_OK(reader);
  auto restored = LocalJob::Restore(Spec(mode), /*threads=*/1, reader->get());
  EXPECT_OK(restored);
  return *std::move(restored);
}

TEST(LocalJobRestoreTest, ARestoredJobGoesOnAsIfNothingHadHappened) {
  for (const auto mode : {proto::JobSpec::SYNC, proto::JobSpec::ASYNC}) {
    const auto whole = *LocalJob::Create(Spec(mode), 2);
    Train(Connect(whole.get(), true).get(), 8);
    const auto half = *LocalJob::Create(Spec(mode), 2);
    Train(Connect(half.get(), true).get(), 5);
    const auto restored = Reborn(half.get(), mode, 5, proto::JobSpec::Mode_Name(mode));
    EXPECT_EQ(restored->engine()->TotalDigest(), half->engine()->TotalDigest());
    HelloReply hello;
    RequestHeader header;
    header.generation = 1;
    ASSERT_OK(restored->server()->Hello(header, &hello));
    EXPECT_EQ(hello.applied, 5u);
    Train(Connect(restored.get(), true, /*first_step=*/5).get(), 3);
    EXPECT_EQ(restored->engine()->TotalDigest(), whole->engine()->TotalDigest());
  }
}

TEST(LocalJobRestoreTest, AJobGoesOnWithAnotherNumberOfServers) {
  const auto spec = Spec(proto::JobSpec::SYNC);
  const auto whole = *LocalJob::Create(spec, 2);
  Train(Connect(whole.get(), true).get(), 8);
  const auto half = *LocalJob::Create(spec, 2, /*num_servers=*/3);
  Train(Connect(half.get(), true).get(), 5);
  LocalJob::SnapshotInfo info;
  info.position.set_step(5);
  const auto path = half->WriteSnapshot(::testing::TempDir() + "/local_job_test.servers", info);
  ASSERT_OK(path);
  for (const int servers : {1, 2, 3, 7}) {
    const auto reader = SnapshotReader::Open(rocksdb::Env::Default(), *path);
    ASSERT_OK(reader);
    const auto restored = LocalJob::Restore(spec, /*threads=*/2, reader->get(), servers);
    ASSERT_OK(restored);
    EXPECT_EQ((*restored)->TotalDigest(), half->TotalDigest()) << servers << " servers";
    EXPECT_EQ((*restored)->applied(), 5u);
    EXPECT_EQ((*restored)->Usage()[0].rows, half->Usage()[0].rows);
    Train(Connect(restored->get(), true, /*first_step=*/5).get(), 3);
    EXPECT_EQ((*restored)->TotalDigest(), whole->TotalDigest()) << servers << " servers";
  }
}

TEST(LocalJobRestoreTest, ARestoredJobTakesNewToolsPushesForNew) {
  const auto spec = TableOf("t", 1, proto::Optimizer::SGD);
  const std::vector<uint64_t> keys = {7};
  const std::vector<float> one = {1};
  const auto job = *LocalJob::Create(Spec(proto::JobSpec::ASYNC), 1);
  const auto tool = Connect(job.get(), false);
  for (int i = 0; i < 3; ++i) ASSERT_OK(tool->PushBare({{*tool->OpenTable(spec), keys, one}}));
  const auto restored = Reborn(job.get(), proto::JobSpec::ASYNC, 0, "tools");
  const auto next = Connect(restored.get(), false);
  const Table table = *next->OpenTable(spec);
  float before, after;
  ASSERT_OK(next->Lookup({{table, keys, {&before, 1}}}));
  ASSERT_OK(next->PushBare({{table, keys, one}}));
  ASSERT_OK(next->Lookup({{table, keys, {&after, 1}}}));
  EXPECT_EQ(after, before - 1) << "taken for a repetition of the old tool's";
  EXPECT_EQ(next->rank(), tool->rank() + 1);
}

TEST(LocalJobRestoreTest, RefusesASpecThatIsNone) {
  proto::JobSpec spec = Spec(proto::JobSpec::SYNC);
  spec.set_num_shards(3);
  EXPECT_THAT(LocalJob::Create(spec, 1), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("with 3 shards")));
}

}  // namespace
}  // namespace rowan
