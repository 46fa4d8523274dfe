#include "server/admin/cluster_client.h"

#include <string>
#include <vector>

#include "common/data_plane.h"
#include "common/digest.h"
#include "common/placement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/network_cluster.h"
#include "tests/server/table/engine_fixture.h"
#include "tests/status_matchers.h"
#include "worker/client/remote_control_plane.h"

namespace rowan {
namespace {

using ::rowan::testing::DenseOf;
using ::rowan::testing::NetworkCluster;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TableOf;
using ::testing::_;
using ::testing::HasSubstr;

constexpr auto kSgd = proto::Optimizer::SGD;
constexpr absl::Duration kTimeout = absl::Seconds(20);

// Two servers of an async job with a table of four floats a row and a dense parameter.
class ClusterClientTest : public ::testing::Test {
 protected:
  ClusterClientTest() : cluster_(NetworkCluster::Job(proto::JobSpec::ASYNC, /*ranks=*/1, /*servers=*/2)) {
    cluster_.AddServer();
    cluster_.AddServer();
    RemoteControlPlane::Options options;
    options.coordinator = cluster_.address();
    plane_ = *RemoteControlPlane::Create(options);
    tool_ = *plane_->RegisterTool();
    table_ = *plane_->OpenTable(TableOf("ads", 4, kSgd));
    EXPECT_OK(plane_->OpenDense(DenseOf("tower", 5 * kDenseBlockFloats, kSgd)));
    client_ = *ClusterClient::Create(cluster_.address(), kTimeout);
  }

  // Pushes a gradient of -1 for each value, straight into the server that has the key.
  void Push(uint64_t key) {
    const std::vector<float> gradient(4, -1);
    PushRequest push;
    push.header = {tool_.generation, tool_.rank, tool_.incarnation, number_++, tool_.map.version};
    push.sections.resize(1);
    push.sections[0].shard = Placement(16).ShardOfKey(key);
    push.sections[0].tables.push_back({table_.id, {&key, 1}, {}, gradient});
    ServerOf(push.sections[0].shard)->core()->server()->Push(push, [](PushReply reply) { EXPECT_OK(reply.status); });
  }

  ServerNode* ServerOf(uint32_t shard) {
    for (size_t i = 0; i < 2; ++i) {
      if (cluster_.server(i)->number() == tool_.map.server_of_shard[shard]) return cluster_.server(i);
    }
    return nullptr;
  }

  NetworkCluster cluster_;
  std::unique_ptr<RemoteControlPlane> plane_;
  Registration tool_;
  OpenedTable table_;
  std::unique_ptr<ClusterClient> client_;
  uint64_t number_ = 0;
};

TEST_F(ClusterClientTest, RowOfEitherServerIsShown) {
  for (const uint64_t key : {uint64_t{0}, uint64_t{17}, ~uint64_t{0}, uint64_t{1} << 63}) {
    const auto before = client_->Row("ads", key);
    ASSERT_OK(before);
    EXPECT_EQ(before->outcome(), "absent");
    ASSERT_EQ(before->slices_size(), 1);
    Push(key);
    const auto after = client_->Row("ads", key);
    ASSERT_OK(after);
    EXPECT_EQ(after->outcome(), "found");
    EXPECT_EQ(after->key(), key);
    EXPECT_EQ(after->server(), tool_.map.server_of_shard[after->shard()]);
    ASSERT_EQ(after->slices(0).values_size(), 4);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(after->slices(0).values(i), before->slices(0).values(i) + 1);
  }
}

TEST_F(ClusterClientTest, UnknownTableIsNamed) {
  EXPECT_THAT(client_->Row("users", 1), StatusIs(absl::StatusCode::kNotFound, "there is no table 'users'"));
  EXPECT_THAT(client_->Row("tower", 1), StatusIs(absl::StatusCode::kNotFound, HasSubstr("tower")));
}

TEST_F(ClusterClientTest, SizesAreSumsOverTheServers) {
  for (uint64_t key = 0; key < 50; ++key) Push(key);
  const auto report = client_->Tables();
  ASSERT_OK(report);
  ASSERT_EQ(report->tables_size(), 2);
  EXPECT_EQ(report->unreachable_size(), 0);
  EXPECT_EQ(report->tables(0).name(), "ads");
  EXPECT_EQ(report->tables(0).width(), 4u);
  EXPECT_EQ(report->tables(0).rows(), 50u);
  EXPECT_GT(report->tables(0).block_bytes(), 50u * 16);
  EXPECT_TRUE(report->tables(1).dense());
  EXPECT_EQ(report->tables(1).rows(), 5u);
}

TEST_F(ClusterClientTest, ShardsAddUpToTheModel) {
  for (uint64_t key = 0; key < 50; ++key) Push(key);
  Digest expected;
  for (size_t i = 0; i < 2; ++i) expected.Add(cluster_.server(i)->core()->engine()->TotalDigest());
  const auto report = client_->Shards(/*digests=*/true);
  ASSERT_OK(report);
  EXPECT_EQ(report->digest(), expected.ToHex());
  Digest sum;
  uint64_t rows = 0;
  uint64_t blocks = 0;
  ASSERT_EQ(report->shards_size(), 16);
  for (const proto::ShardReport& shard : report->shards()) {
    rows += shard.rows();
    blocks += shard.blocks();
    sum.Add(*Digest::Parse(shard.digest()));
    EXPECT_EQ(shard.server(), tool_.map.server_of_shard[shard.shard()]);
  }
  EXPECT_EQ(rows, 50u);
  EXPECT_EQ(blocks, 5u);
  EXPECT_EQ(sum.ToHex(), expected.ToHex());
  EXPECT_EQ(client_->Shards(/*digests=*/false)->digest(), "");
}

TEST_F(ClusterClientTest, ServerThatDoesNotAnswerIsNamedAndTheOthersAreShown) {
  const std::string gone = cluster_.server(1)->address();
  cluster_.server(1)->Stop();
  const auto report = client_->Tables();
  ASSERT_OK(report);
  ASSERT_EQ(report->unreachable_size(), 1);
  EXPECT_THAT(report->unreachable(0), HasSubstr(gone));
  EXPECT_EQ(client_->Shards(/*digests=*/true)->digest(), "");
}

TEST_F(ClusterClientTest, CoordinatorThatDoesNotAnswerIsNamed) {
  cluster_.StopCoordinator();
  EXPECT_THAT(client_->Status(), StatusIs(absl::StatusCode::kUnavailable,
                                          HasSubstr("the coordinator at " + cluster_.address() + " does not answer")));
  EXPECT_THAT(ClusterClient::Create("nowhere", kTimeout), StatusIs(absl::StatusCode::kInvalidArgument, _));
}

}  // namespace
}  // namespace rowan
