#include "server/coordinator/job.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/data_plane.h"
#include "common/mutex.h"
#include "gtest/gtest.h"
#include "tests/server/table/engine_fixture.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::DenseOf;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TableOf;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;
constexpr auto kSgd = proto::Optimizer::SGD;

// Notes what it is told.
class FakeHost final : public ShardHost {
 public:
  absl::Status AddTable(uint32_t id, const proto::TableSpec& spec) override {
    MutexLock lock(&mu_);
    EXPECT_NE(spec.seed(), 0u);
    if (!error_.ok()) return error_;
    EXPECT_TRUE(ids_.insert(id).second) << "told twice";
    return absl::OkStatus();
  }
  absl::Status AddDense(uint32_t id, const proto::DenseSpec& spec) override {
    proto::TableSpec table;
    table.set_seed(spec.seed());
    return AddTable(id, table);
  }
  std::set<uint32_t> ids() {
    MutexLock lock(&mu_);
    return ids_;
  }
  void Fail(const absl::Status& error) {
    MutexLock lock(&mu_);
    error_ = error;
  }

 private:
  Mutex mu_;
  std::set<uint32_t> ids_ ABSL_GUARDED_BY(mu_);
  absl::Status error_ ABSL_GUARDED_BY(mu_);
};

proto::JobSpec Spec() {
  proto::JobSpec spec;
  spec.set_num_ranks(2);
  spec.set_num_shards(16);
  spec.set_seed(5);
  return spec;
}

TEST(JobTest, NamesWhatIsWrongInASpec) {
  EXPECT_OK(CheckJobSpec(Spec()));
  proto::JobSpec spec = Spec();
  spec.set_mode(static_cast<proto::JobSpec::Mode>(9));
  EXPECT_THAT(CheckJobSpec(spec), StatusIs(kInvalid, "job mode 9 is unknown"));
  for (const uint32_t ranks : {0u, kFirstToolRank, ~0u}) {
    spec = Spec();
    spec.set_num_ranks(ranks);
    EXPECT_THAT(CheckJobSpec(spec), StatusIs(kInvalid, HasSubstr("ranks: must have 1 to 1048575")));
  }
  for (const uint32_t shards : {0u, 3u, 131072u, ~0u}) {
    spec = Spec();
    spec.set_num_shards(shards);
    EXPECT_THAT(CheckJobSpec(spec), StatusIs(kInvalid, HasSubstr("shards: must be a power of two, 1 to 65536")));
  }
}

TEST(JobTest, HandsOutEachRankOnceAndToolRanksBesides) {
  Job job(Spec(), {});
  EXPECT_EQ(job.RegisterWorker()->rank, 0u);
  EXPECT_EQ(job.RegisterTool()->rank, kFirstToolRank);
  EXPECT_EQ(job.RegisterWorker()->rank, 1u);
  EXPECT_THAT(job.RegisterWorker(), StatusIs(kFailed, "all 2 ranks of the job are taken"));
  EXPECT_EQ(job.RegisterTool()->rank, kFirstToolRank + 1);
}

TEST(JobTest, ReservedToolRanksAreNotHandedOutAgain) {
  Job job(Spec(), {});
  job.ReserveToolRanks(3);  // a worker's: means nothing
  job.ReserveToolRanks(kFirstToolRank + 7);
  job.ReserveToolRanks(kFirstToolRank + 2);
  EXPECT_EQ(job.RegisterTool()->rank, kFirstToolRank + 7);
}

TEST(JobTest, OpensATableOnceAndChecksItsIdentity) {
  FakeHost a, b;
  Job job(Spec(), {&a, &b});
  const OpenedTable first = *job.OpenTable(TableOf("t", 4, kSgd));
  EXPECT_NE(first.spec.seed(), 0u);
  EXPECT_EQ(job.OpenTable(TableOf("t", 4, kSgd, /*rate=*/0.5f))->id, first.id) << "a rate is no identity";
  EXPECT_EQ(job.OpenTable(first.spec)->id, first.id);
  EXPECT_THAT(job.OpenTable(TableOf("t", 5, kSgd)), StatusIs(kFailed, "table 't' slice 0 width is 4, not 5"));
  const OpenedDense dense = *job.OpenDense(DenseOf("t", 4, kSgd));
  EXPECT_NE(dense.id, first.id) << "tables and dense parameters share ids, not names";
  EXPECT_THAT(job.OpenDense(DenseOf("t", 5, kSgd)), StatusIs(kFailed, "dense parameter 't' size is 4, not 5"));
  EXPECT_EQ(a.ids(), (std::set<uint32_t>{first.id, dense.id}));
  EXPECT_EQ(b.ids(), a.ids());
}

TEST(JobTest, SeedsComeFromTheJobsSeedKindAndName) {
  Job job(Spec(), {}), same(Spec(), {});
  proto::JobSpec other_spec = Spec();
  other_spec.set_seed(6);
  Job other(other_spec, {});
  const uint64_t seed = job.OpenTable(TableOf("t", 4, kSgd))->spec.seed();
  same.OpenTable(TableOf("first", 4, kSgd)).IgnoreError();
  EXPECT_EQ(same.OpenTable(TableOf("t", 4, kSgd))->spec.seed(), seed) << "whatever was opened before";
  EXPECT_NE(other.OpenTable(TableOf("t", 4, kSgd))->spec.seed(), seed);
  EXPECT_NE(job.OpenTable(TableOf("u", 4, kSgd))->spec.seed(), seed);
  EXPECT_NE(job.OpenDense(DenseOf("t", 4, kSgd))->spec.seed(), seed);
  proto::TableSpec own = TableOf("own", 4, kSgd);
  own.set_seed(77);
  EXPECT_EQ(job.OpenTable(own)->spec.seed(), 77u);
}

TEST(JobTest, ATableThatAHostRefusesDoesNotExist) {
  FakeHost host;
  Job job(Spec(), {&host});
  host.Fail(absl::InvalidArgumentError("no such thing"));
  EXPECT_THAT(job.OpenTable(TableOf("t", 4, kSgd)), StatusIs(kInvalid, "no such thing"));
  EXPECT_TRUE(job.Tables().empty());
  host.Fail(absl::OkStatus());
  EXPECT_OK(job.OpenTable(TableOf("t", 5, kSgd))) << "the refused one left no identity";
}

TEST(JobTest, ManyThreadsOpeningOneTableGetOne) {
  FakeHost host;
  Job job(Spec(), {&host});
  std::vector<uint32_t> ids(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ids.size(); ++i) {
    threads.emplace_back([&, i] { ids[i] = job.OpenTable(TableOf("t", 4, kSgd))->id; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids, std::vector<uint32_t>(8, ids[0]));
  EXPECT_EQ(host.ids().size(), 1u);
}

TEST(JobTest, ACatalogueIsAdoptedUnderItsIds) {
  FakeHost host;
  Job job(Spec(), {&host});
  job.OpenTable(TableOf("t", 4, kSgd)).IgnoreError();
  job.OpenDense(DenseOf("d", 4, kSgd)).IgnoreError();
  proto::SnapshotManifest manifest;
  for (const proto::SnapshotTable& table : job.Tables()) *manifest.add_tables() = table;
  manifest.mutable_tables(1)->set_id(40);
  FakeHost second;
  Job restored(Spec(), {&second});
  ASSERT_OK(restored.AdoptTables(manifest));
  EXPECT_EQ(second.ids(), (std::set<uint32_t>{1, 40}));
  EXPECT_EQ(restored.OpenTable(TableOf("t", 4, kSgd))->id, 1u);
  EXPECT_EQ(restored.OpenDense(DenseOf("d", 4, kSgd))->id, 40u);
  EXPECT_EQ(restored.OpenTable(TableOf("new", 4, kSgd))->id, 41u);
}

}  // namespace
}  // namespace rowan
