#include "worker/client/remote_control_plane.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "common/data_plane.h"
#include "common/mutex.h"
#include "common/placement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/network_cluster.h"
#include "tests/server/table/engine_fixture.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::DenseOf;
using ::rowan::testing::NetworkCluster;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TableOf;
using ::testing::_;
using ::testing::HasSubstr;

constexpr auto kSync = proto::JobSpec::SYNC;
constexpr auto kSgd = proto::Optimizer::SGD;
constexpr absl::Duration kLimit = absl::Seconds(20);

// One status that comes once, from another thread.
class Received {
 public:
  void Put(const absl::Status& status) {
    MutexLock lock(&mu_);
    status_ = status;
    there_ = true;
    changed_.SignalAll();
  }
  absl::Status Get() {
    MutexLock lock(&mu_);
    const absl::Time deadline = absl::Now() + kLimit;
    while (!there_ && absl::Now() < deadline) changed_.WaitWithTimeout(&mu_, absl::Seconds(1));
    return there_ ? status_ : absl::DeadlineExceededError("nothing came");
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool there_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

RemoteControlPlane::Options OptionsFor(const std::string& coordinator) {
  RemoteControlPlane::Options options;
  options.coordinator = coordinator;
  options.patience.limit = kLimit;
  options.patience.ask_every = absl::Milliseconds(20);
  return options;
}

TEST(RemoteControlPlaneTest, WorkerWaitsForServersAndSaysSo) {
  NetworkCluster cluster(NetworkCluster::Job(kSync, /*ranks=*/1, /*servers=*/2));
  cluster.AddServer();
  absl::Notification told;
  RemoteControlPlane::Options options = OptionsFor(cluster.address());
  options.patience.tell = [&](const std::string& what) {
    if (what == "waiting for servers: 1 of 2, missing 1 more" && !told.HasBeenNotified()) told.Notify();
  };
  const auto plane = RemoteControlPlane::Create(options);
  ASSERT_OK(plane);
  std::thread late([&] {
    EXPECT_TRUE(told.WaitForNotificationWithTimeout(kLimit));
    cluster.AddServer();
  });
  const auto registration = (*plane)->RegisterWorker();
  late.join();
  ASSERT_OK(registration);
  EXPECT_EQ(registration->rank, 0u);
  EXPECT_EQ(registration->incarnation, 1u);
  EXPECT_EQ(registration->map.version, 1u);
  ASSERT_EQ(registration->map.servers.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(registration->map.servers[cluster.server(i)->number()].tcp, cluster.server(i)->address());
  }
  EXPECT_EQ(registration->map.server_of_shard, EvenPlacement(16, 2));
  EXPECT_OK((*plane)->ReportFinished());
}

TEST(RemoteControlPlaneTest, LimitOfTheWaitIsNamed) {
  NetworkCluster cluster(NetworkCluster::Job(kSync, 1, 1));
  RemoteControlPlane::Options options = OptionsFor(cluster.address());
  options.patience.limit = absl::Milliseconds(50);
  EXPECT_THAT(
      (*RemoteControlPlane::Create(options))->RegisterWorker(),
      StatusIs(absl::StatusCode::kDeadlineExceeded, "gave up after 50ms: waiting for servers: 0 of 1, missing 1 more"));
  cluster.StopCoordinator();
  EXPECT_THAT((*RemoteControlPlane::Create(options))->RegisterTool(),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("gave up after 50ms: waiting for the coordinator at " + cluster.address())));
}

TEST(RemoteControlPlaneTest, TableIsOnAllServersUnderOneId) {
  NetworkCluster cluster(NetworkCluster::Job(kSync, 1, 3));
  for (int i = 0; i < 3; ++i) cluster.AddServer();
  const auto plane = RemoteControlPlane::Create(OptionsFor(cluster.address()));
  std::vector<uint32_t> ids(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ids.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto opened = (*plane)->OpenTable(TableOf("ads", 4, kSgd));
      EXPECT_OK(opened);
      if (opened.ok()) ids[i] = opened->id;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids, std::vector<uint32_t>(ids.size(), ids[0]));
  const auto dense = (*plane)->OpenDense(DenseOf("tower", 100'000, kSgd));
  ASSERT_OK(dense);
  EXPECT_NE(dense->id, ids[0]);
  EXPECT_NE(dense->spec.seed(), 0u);
  int64_t blocks = 0;
  for (int i = 0; i < 3; ++i) {
    ShardEngine* const engine = cluster.server(i)->core()->engine();
    ASSERT_EQ(engine->Tables().size(), 1u);
    EXPECT_EQ(engine->Tables()[0]->id(), ids[0]);
    for (uint32_t shard = 0; shard < 16; ++shard) {
      for (const TableUsage& usage : engine->ShardUsage(shard)) blocks += usage.rows;
    }
  }
  EXPECT_EQ(blocks, DenseBlocks(100'000));  // Each on one server alone.
  EXPECT_THAT((*plane)->OpenTable(TableOf("ads", 5, kSgd)),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("ads")));
  EXPECT_THAT((*plane)->OpenTable(TableOf("", 4, kSgd)), StatusIs(absl::StatusCode::kInvalidArgument, _));
}

TEST(RemoteControlPlaneTest, FailureOfOneRankReachesTheOthersAndTheirPulls) {
  NetworkCluster cluster(NetworkCluster::Job(kSync, 2, 1));
  DataPlane* const server = cluster.AddServer()->core()->server();
  Received told;
  RemoteControlPlane::Options options = OptionsFor(cluster.address());
  options.on_failure = [&](const absl::Status& status) { told.Put(status); };
  const auto first = RemoteControlPlane::Create(options);
  const auto second = RemoteControlPlane::Create(OptionsFor(cluster.address()));
  const auto registration = (*first)->RegisterWorker();
  ASSERT_OK(registration);
  ASSERT_OK((*second)->RegisterWorker());
  // Waits for the other rank's push of step 0.
  PullRequest pull;
  pull.header = {registration->generation, registration->rank, registration->incarnation, /*number=*/1,
                 registration->map.version};
  Received answer;
  server->Pull(&pull, nullptr, [&](absl::Status status) { answer.Put(status); });
  ASSERT_OK((*second)->ReportFailure(absl::InternalError("loss is not finite")));
  EXPECT_THAT(told.Get(), StatusIs(absl::StatusCode::kCancelled, "rank 1 ended: INTERNAL: loss is not finite"));
  EXPECT_THAT(answer.Get(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("loss is not finite")));
  EXPECT_THAT((*first)->failure(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("rank 1 ended")));
  EXPECT_EQ(cluster.coordinator()->State(), "failed: rank 1 ended: INTERNAL: loss is not finite");
}

TEST(RemoteControlPlaneTest, WorkerThatIsDestroyedWithoutAReportHasFailed) {
  NetworkCluster cluster(NetworkCluster::Job(kSync, 2, 1));
  cluster.AddServer();
  {
    const auto plane = RemoteControlPlane::Create(OptionsFor(cluster.address()));
    ASSERT_OK((*plane)->RegisterWorker());
  }
  EXPECT_EQ(cluster.coordinator()->State(), "failed: rank 0 ended: ended without a report");
}

TEST(RemoteControlPlaneTest, ProgressAndEndAreSeenByTheCoordinator) {
  NetworkCluster cluster(NetworkCluster::Job(kSync, 1, 1));
  cluster.AddServer();
  const auto plane = RemoteControlPlane::Create(OptionsFor(cluster.address()));
  EXPECT_THAT((*plane)->ReportFinished(), StatusIs(absl::StatusCode::kFailedPrecondition, _));
  ASSERT_OK((*plane)->RegisterWorker());
  EXPECT_THAT((*plane)->RegisterWorker(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("already")));
  EXPECT_GE((*plane)->RegisterTool()->rank, kFirstToolRank);
  proto::JobPosition position;
  position.set_step(17);
  position.set_samples(1700);
  (*plane)->ReportProgress(position);
  ASSERT_OK((*plane)->ReportFinished());
  const proto::ClusterStatus status = cluster.coordinator()->Status();
  EXPECT_EQ(status.state(), "finished");
  EXPECT_EQ(status.workers(0).position().step(), 17u);
  EXPECT_EQ(status.workers(0).position().samples(), 1700u);
}

TEST(RemoteControlPlaneTest, StoppedJobEndsItsWorkersAndServers) {
  NetworkCluster cluster(NetworkCluster::Job(kSync, 1, 1));
  cluster.AddServer();
  Received told;
  RemoteControlPlane::Options options = OptionsFor(cluster.address());
  options.on_failure = [&](const absl::Status& status) { told.Put(status); };
  const auto plane = RemoteControlPlane::Create(options);
  ASSERT_OK((*plane)->RegisterWorker());
  cluster.coordinator()->StopJob();
  EXPECT_THAT(told.Get(), StatusIs(absl::StatusCode::kCancelled, "the job was stopped"));
  const absl::Time deadline = absl::Now() + kLimit;
  while (!cluster.server(0)->ended().has_value() && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(10));
  ASSERT_TRUE(cluster.server(0)->ended().has_value());
  EXPECT_OK(*cluster.server(0)->ended());
  EXPECT_FALSE(cluster.coordinator()->MayExit());
  cluster.server(0)->Stop();
  EXPECT_TRUE(cluster.coordinator()->MayExit());
}

TEST(RemoteControlPlaneTest, LostCoordinatorIsReportedOnceItsLimitIsReached) {
  Cluster::Options job = NetworkCluster::Job(kSync, 1, 1);
  job.lease = absl::Milliseconds(300);  // A heartbeat every 100 ms.
  NetworkCluster cluster(job);
  cluster.AddServer();
  Received told;
  RemoteControlPlane::Options options = OptionsFor(cluster.address());
  options.patience.limit = absl::Milliseconds(500);
  options.on_failure = [&](const absl::Status& status) { told.Put(status); };
  const auto plane = RemoteControlPlane::Create(options);
  ASSERT_OK((*plane)->RegisterWorker());
  cluster.StopCoordinator();
  EXPECT_THAT(told.Get(), StatusIs(absl::StatusCode::kUnavailable,
                                   HasSubstr("gave up after 500ms: waiting for the coordinator at")));
}

}  // namespace
}  // namespace rowan
