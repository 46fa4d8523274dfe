#include "server/service/local_job.h"

#include <stdlib.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/data_plane.h"
#include "common/snapshot/manifest.h"
#include "common/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/env.h"
#include "server/storage/snapshot_writer.h"
#include "tests/status_matchers.h"
#include "worker/client.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kShards = 8;
constexpr int64_t kDenseSize = 5000;  // two blocks
constexpr int64_t kWidth = 3;

std::string NewRoot() {
  std::string path = absl::StrCat(::testing::TempDir(), "/root-XXXXXX");
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  return path;
}

proto::JobSpec Spec(proto::JobSpec::Mode mode) {
  proto::JobSpec spec;
  spec.set_mode(mode);
  spec.set_num_ranks(1);
  spec.set_num_shards(kShards);
  spec.set_seed(3);
  return spec;
}

proto::TableSpec RowsSpec() {
  proto::TableSpec spec;
  spec.set_name("rows");
  proto::Slice* slice = spec.add_slices();
  slice->set_name("weight");
  slice->set_width(1);
  slice->mutable_optimizer()->set_kind(proto::Optimizer::FTRL);
  slice = spec.add_slices();
  slice->set_name("embedding");
  slice->set_width(2);
  slice->mutable_initializer()->set_kind(proto::Initializer::UNIFORM);
  slice->mutable_initializer()->set_scale(0.1f);
  slice->mutable_optimizer()->set_kind(proto::Optimizer::ADAGRAD);
  return spec;
}

proto::DenseSpec TowerSpec() {
  proto::DenseSpec spec;
  spec.set_name("tower");
  spec.set_size(kDenseSize);
  spec.mutable_optimizer()->set_kind(proto::Optimizer::ADAM);
  return spec;
}

// Steps [begin, end) of a run whose gradients follow from the step and the values pulled.
void TrainSteps(LocalJob* job, uint64_t begin, uint64_t end) {
  Client::Options options;
  options.coordinator = job->coordinator();
  options.servers = job->data_planes();
  options.first_step = begin;
  const auto connected = Client::Connect(options);
  ASSERT_OK(connected);
  Client* const client = connected->get();
  const Table rows = client->OpenTable(RowsSpec()).value();
  const Dense tower = client->OpenDense(TowerSpec()).value();
  for (uint64_t t = begin; t < end; ++t) {
    auto step = client->BeginStep();
    ASSERT_OK(step);
    ASSERT_EQ(step->number(), t);
    std::vector<uint64_t> keys;
    for (uint64_t i = 0; i < 40; ++i) keys.push_back((t * 7 + i * i) % 100 - 1);  // 2^64 - 1 among them
    std::vector<float> values(keys.size() * kWidth), weights(kDenseSize);
    ASSERT_OK(step->Pull({{rows, keys, absl::MakeSpan(values), {}}}, {{tower, absl::MakeSpan(weights)}}).Wait());
    for (size_t i = 0; i < values.size(); ++i) values[i] = 0.5f * values[i] + 0.01f * static_cast<float>((i + t) % 7);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5f * weights[i] + 0.1f * static_cast<float>((i + t) % 5);
    ASSERT_OK(step->Push({{rows, keys, values}}, {{tower, weights}}, /*weight=*/4).Wait());
  }
  ASSERT_OK(client->Finish());
}

std::unique_ptr<LocalJob> Trained(proto::JobSpec::Mode mode, uint64_t steps) {
  std::unique_ptr<LocalJob> job = LocalJob::Create(Spec(mode), /*threads=*/2).value();
  TrainSteps(job.get(), 0, steps);
  return job;
}

std::string DigestOf(LocalJob* job) { return job->engine()->TotalDigest().ToHex(); }

std::string Snapshot(LocalJob* job, uint64_t steps, const std::string& root, uint64_t id = 1) {
  LocalJob::SnapshotInfo info;
  info.id = id;
  info.position.set_step(steps);
  info.position.set_epoch(2);
  info.position.set_samples(77);
  info.application["model"] = "a tower";
  const auto path = job->WriteSnapshot(root, info);
  EXPECT_OK(path);
  return path.value_or("");
}

absl::StatusOr<std::unique_ptr<LocalJob>> RestoreFrom(const std::string& path, const proto::JobSpec& spec) {
  ROWAN_ASSIGN_OR_RETURN(const auto reader, SnapshotReader::Open(rocksdb::Env::Default(), path));
  return LocalJob::Restore(spec, /*threads=*/2, reader.get());
}

TEST(LocalJobTest, ARestoredJobIsTheOneThatWasWritten) {
  const auto job = Trained(proto::JobSpec::SYNC, 6);
  const std::string root = NewRoot();
  Snapshot(job.get(), 6, root);
  const auto reader = SnapshotReader::Open(rocksdb::Env::Default(), root);
  ASSERT_OK(reader);
  const proto::SnapshotManifest& manifest = (*reader)->manifest();
  EXPECT_EQ(manifest.position().step(), 6u);
  EXPECT_EQ(manifest.position().epoch(), 2u);
  EXPECT_EQ(manifest.position().samples(), 77u);
  const std::string* const model = FindApplicationEntry(manifest, "model");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(*model, "a tower");
  EXPECT_EQ(manifest.digest(), DigestOf(job.get()));

  // The shards and the seed are the snapshot's, whatever the spec says.
  proto::JobSpec spec = Spec(proto::JobSpec::ASYNC);
  spec.set_num_shards(2);
  spec.set_seed(99);
  for (const int threads : {1, 3}) {
    const auto restored = LocalJob::Restore(spec, threads, reader->get());
    ASSERT_OK(restored);
    EXPECT_EQ(DigestOf(restored->get()), DigestOf(job.get()));
    EXPECT_EQ((*restored)->engine()->placement().num_shards(), kShards);
    EXPECT_EQ((*restored)->engine()->Usage()[0].rows, job->engine()->Usage()[0].rows);
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      EXPECT_EQ((*restored)->engine()->ShardDigest(shard), job->engine()->ShardDigest(shard));
    }
    // Its tables are found under their ids; another identity is refused; a new one gets an id of its own.
    ControlPlane* const coordinator = (*restored)->coordinator();
    EXPECT_EQ(coordinator->OpenTable(RowsSpec())->id, job->coordinator()->OpenTable(RowsSpec())->id);
    EXPECT_EQ(coordinator->OpenDense(TowerSpec())->id, job->coordinator()->OpenDense(TowerSpec())->id);
    proto::TableSpec other = RowsSpec();
    other.mutable_slices(1)->set_width(4);
    EXPECT_THAT(coordinator->OpenTable(other), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("rows")));
    other.set_name("more");
    const auto more = coordinator->OpenTable(other);
    ASSERT_OK(more);
    EXPECT_GT(more->id, coordinator->OpenDense(TowerSpec())->id);
  }
}

TEST(LocalJobTest, TrainingThatGoesOnEqualsTrainingThatNeverStopped) {
  for (const auto mode : {proto::JobSpec::SYNC, proto::JobSpec::BOUNDED, proto::JobSpec::ASYNC}) {
    const auto uninterrupted = Trained(mode, 10);
    const std::string root = NewRoot();
    Snapshot(Trained(mode, 4).get(), 4, root);
    const auto restored = RestoreFrom(root, Spec(mode));
    ASSERT_OK(restored);
    EXPECT_NE(DigestOf(restored->get()), DigestOf(uninterrupted.get()));
    TrainSteps(restored->get(), 4, 10);
    EXPECT_EQ(DigestOf(restored->get()), DigestOf(uninterrupted.get())) << proto::JobSpec::Mode_Name(mode);
  }
}

TEST(LocalJobTest, PushesSeenBeforeTheSnapshotAreDuplicatesAfterIt) {
  const auto job = Trained(proto::JobSpec::ASYNC, 5);
  const std::string root = NewRoot();
  Snapshot(job.get(), 5, root);
  const auto reader = SnapshotReader::Open(rocksdb::Env::Default(), root);
  ASSERT_OK(reader);
  const auto restored = LocalJob::Restore(Spec(proto::JobSpec::ASYNC), /*threads=*/2, reader->get());
  ASSERT_OK(restored);
  int windows = 0;
  for (uint32_t shard = 0; shard < kShards; ++shard) {
    EXPECT_EQ((*restored)->engine()->State(shard).DebugString(), job->engine()->State(shard).DebugString());
    windows += (*restored)->engine()->State(shard).windows_size();
  }
  EXPECT_GT(windows, 0);

  const uint64_t key = 0;  // pushed by step 0
  const std::vector<float> gradient(kWidth, 1);
  const auto push = [&](uint64_t number) {
    PushRequest request;
    request.header.generation = (*reader)->manifest().generation();
    request.header.incarnation = 1;
    request.header.number = number;
    request.weight = 1;
    const uint32_t table = (*restored)->coordinator()->OpenTable(RowsSpec())->id;
    request.sections.push_back({(*restored)->engine()->placement().ShardOfKey(key),
                                {{table, absl::MakeConstSpan(&key, 1), {}, gradient}},
                                {}});
    std::vector<SectionOutcome> outcomes;
    (*restored)->server()->Push(request, [&](const PushReply& reply) {
      EXPECT_OK(reply.status);
      outcomes = reply.outcomes;
    });
    return outcomes;
  };
  for (uint64_t number = 0; number < 5; ++number) EXPECT_THAT(push(number), ElementsAre(SectionOutcome::kDuplicate));
  EXPECT_EQ(DigestOf(restored->get()), DigestOf(job.get()));
  EXPECT_THAT(push(5), ElementsAre(SectionOutcome::kApplied));
  EXPECT_NE(DigestOf(restored->get()), DigestOf(job.get()));
}

TEST(LocalJobTest, AnEmptyJobIsRestoredToo) {
  const auto job = LocalJob::Create(Spec(proto::JobSpec::SYNC), 1);
  ASSERT_OK(job);
  const std::string root = NewRoot();
  Snapshot(job->get(), 0, root);
  const auto restored = RestoreFrom(root, Spec(proto::JobSpec::SYNC));
  ASSERT_OK(restored);
  TrainSteps(restored->get(), 0, 3);
  EXPECT_EQ(DigestOf(restored->get()), DigestOf(Trained(proto::JobSpec::SYNC, 3).get()));
}

TEST(LocalJobTest, ASpecThatIsNoneIsRefused) {
  proto::JobSpec spec = Spec(proto::JobSpec::SYNC);
  spec.set_num_shards(3);
  EXPECT_THAT(LocalJob::Create(spec, 1), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("3")));
  spec = Spec(proto::JobSpec::SYNC);
  spec.set_num_ranks(0);
  EXPECT_THAT(LocalJob::Create(spec, 1), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank")));
}

// Writes the snapshot at `from` again with what `change` makes of its blocks: undamaged, but not what was trained.
using Blocks = std::map<std::pair<uint32_t, uint64_t>, std::string>;  // (table, key) -> block
std::string Rewrite(
    const std::string& from, const std::function<void(std::vector<Blocks>*)>& change,
    const std::function<void(proto::SnapshotManifest*)>& change_manifest = [](proto::SnapshotManifest*) {}) {
  const auto reader = SnapshotReader::Open(rocksdb::Env::Default(), from);
  EXPECT_OK(reader);
  std::vector<Blocks> shards(kShards);
  for (uint32_t shard = 0; shard < kShards; ++shard) {
    EXPECT_OK((*reader)->ReadShard(shard, [&](uint32_t table, uint64_t key, absl::string_view block) {
      shards[shard][{table, key}] = std::string(block);
      return absl::OkStatus();
    }));
  }
  change(&shards);
  const std::string root = NewRoot();
  const auto writer = SnapshotWriter::Create(rocksdb::Env::Default(), root, /*id=*/1);
  EXPECT_OK(writer);
  for (uint32_t shard = 0; shard < kShards; ++shard) {
    const auto file = (*writer)->NewShard(shard);
    EXPECT_OK(file);
    for (const auto& [place, block] : shards[shard]) EXPECT_OK((*file)->Put(place.first, place.second, block));
    EXPECT_OK((*file)->Finish());
  }
  proto::SnapshotManifest manifest = (*reader)->manifest();
  manifest.clear_files();
  change_manifest(&manifest);
  EXPECT_OK((*writer)->Publish(manifest));
  return root;
}

class RestoreRefusesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto job = Trained(proto::JobSpec::SYNC, 3);
    rows_ = job->coordinator()->OpenTable(RowsSpec())->id;
    tower_ = job->coordinator()->OpenDense(TowerSpec())->id;
    path_ = Snapshot(job.get(), 3, NewRoot());
  }

  absl::Status RestoreChanged(const std::function<void(std::vector<Blocks>*)>& change) {
    root_ = Rewrite(path_, change);
    return RestoreFrom(root_, Spec(proto::JobSpec::SYNC)).status();
  }
  // The shard and place of some row, or of a block of the tower.
  std::pair<uint32_t, std::pair<uint32_t, uint64_t>> Some(const std::vector<Blocks>& shards, uint32_t table) {
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      for (const auto& entry : shards[shard]) {
        if (entry.first.first == table) return {shard, entry.first};
      }
    }
    ADD_FAILURE() << "no block of table " << table;
    return {};
  }

  uint32_t rows_ = 0, tower_ = 0;
  std::string path_, root_;
};

TEST_F(RestoreRefusesTest, NothingThatWasNotChanged) {
  EXPECT_OK(RestoreChanged([](std::vector<Blocks>*) {}));
}

TEST_F(RestoreRefusesTest, NoDigestHoweverWritten) {
  const auto same = [](std::vector<Blocks>*) {};
  const auto upper = [](proto::SnapshotManifest* manifest) { absl::AsciiStrToUpper(manifest->mutable_digest()); };
  EXPECT_OK(RestoreFrom(Rewrite(path_, same, upper), Spec(proto::JobSpec::SYNC)).status());
  const auto none = [](proto::SnapshotManifest* manifest) { manifest->clear_digest(); };
  EXPECT_OK(RestoreFrom(Rewrite(path_, same, none), Spec(proto::JobSpec::SYNC)).status());
}

TEST_F(RestoreRefusesTest, BlocksOfAnotherSize) {
  for (const uint32_t table : {rows_, tower_}) {
    for (const bool longer : {false, true}) {
      EXPECT_THAT(RestoreChanged([&](std::vector<Blocks>* shards) {
                    const auto [shard, place] = Some(*shards, table);
                    std::string& block = (*shards)[shard][place];
                    block.resize(block.size() + (longer ? 4 : -4));
                  }),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           AllOf(HasSubstr(table == rows_ ? "'rows'" : "'tower'"), HasSubstr("bytes"))));
    }
  }
}

TEST_F(RestoreRefusesTest, RowsOfAnotherShard) {
  for (const uint32_t table : {rows_, tower_}) {
    EXPECT_THAT(RestoreChanged([&](std::vector<Blocks>* shards) {
                  const auto [shard, place] = Some(*shards, table);
                  (*shards)[(shard + 1) % kShards][place] = (*shards)[shard][place];
                  (*shards)[shard].erase(place);
                }),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("belongs to shard")));
  }
}

TEST_F(RestoreRefusesTest, BlocksThatTheParameterHasNot) {
  EXPECT_THAT(RestoreChanged([&](std::vector<Blocks>* shards) {
                const auto [shard, place] = Some(*shards, tower_);
                std::string block = (*shards)[shard][place];
                block[0] = 9;
                (*shards)[shard][{tower_, 9}] = block;
              }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("block 9")));
}

TEST_F(RestoreRefusesTest, ASnapshotThatIsNotWholeOrNotTheOneDigested) {
  for (const uint32_t table : {rows_, tower_}) {
    for (const bool missing : {true, false}) {
      const absl::Status status = RestoreChanged([&](std::vector<Blocks>* shards) {
        const auto [shard, place] = Some(*shards, table);
        if (missing) {
          (*shards)[shard].erase(place);
        } else {
          (*shards)[shard][place].back() ^= 1;
        }
      });
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr(root_), HasSubstr("digest"))));
    }
  }
}

}  // namespace
}  // namespace rowan
