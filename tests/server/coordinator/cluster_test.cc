#include "server/coordinator/cluster.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/data_plane.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr absl::Duration kLease = absl::Seconds(30);

class ClusterTest : public ::testing::Test {
 protected:
  void Make(uint32_t servers, uint32_t ranks) {
    Cluster::Options options;
    options.job.set_num_ranks(ranks);
    options.job.set_num_shards(8);
    options.num_servers = servers;
    options.lease = kLease;
    ASSERT_OK(Cluster::Check(options));
    cluster_ = std::make_unique<Cluster>(options, &clock_);
  }

  // Time passes as it does for a coordinator that looks at its clock.
  void Advance(absl::Duration by) {
    for (; by > absl::ZeroDuration(); by -= absl::Seconds(1)) {
      clock_.Advance(std::min(by, absl::Seconds(1)));
      cluster_->Tick();
    }
  }

  absl::StatusOr<proto::RegisterServerReply> Server(const std::string& name, int port, uint64_t process) {
    proto::RegisterServerRequest request;
    request.set_protocol(proto::PROTOCOL_CURRENT);
    request.set_name(name);
    request.set_process(process);
    request.mutable_address()->set_tcp(absl::StrCat("h:", port));
    return cluster_->RegisterServer(request);
  }
  absl::StatusOr<proto::ServerHeartbeatReply> Beat(const proto::RegisterServerReply& server, bool leaving = false) {
    proto::ServerHeartbeatRequest request;
    request.set_server(server.server());
    request.set_incarnation(server.incarnation());
    request.set_leaving(leaving);
    return cluster_->ServerHeartbeat(request);
  }
  // Registered and serving.
  proto::RegisterServerReply Serving(const std::string& name, int port, uint64_t process) {
    auto reply = Server(name, port, process);
    EXPECT_OK(reply);
    EXPECT_OK(Beat(*reply));
    return *std::move(reply);
  }

  absl::StatusOr<proto::RegisterClientReply> Client(bool takes_part, uint64_t process) {
    proto::RegisterClientRequest request;
    request.set_protocol(proto::PROTOCOL_CURRENT);
    request.set_takes_part(takes_part);
    request.set_host("host");
    request.set_process(process);
    return cluster_->RegisterClient(request);
  }
  absl::StatusOr<proto::ClientHeartbeatReply> Beat(const proto::RegisterClientReply& worker,
                                                   const std::string& failure = "", bool finished = false) {
    proto::ClientHeartbeatRequest request;
    request.set_rank(worker.rank());
    request.set_incarnation(worker.incarnation());
    request.mutable_position()->set_step(7);
    request.set_failure(failure);
    request.set_finished(finished);
    return cluster_->ClientHeartbeat(request);
  }

  std::string State() { return cluster_->Status().state(); }

  FakeClock clock_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(ClusterTest, EveryStartOrderLeadsToTheSameJob) {
  std::vector<char> order = {'a', 'b', 'v', 'w'};  // Two servers, two workers.
  do {
    Make(/*servers=*/2, /*ranks=*/2);
    std::vector<char> waiting = order;
    std::vector<uint32_t> ranks;
    int servers = 0;
    // Everybody asks in this order, again and again, as far as the answer is to wait.
    for (int round = 0; round < 3 && !waiting.empty(); ++round) {
      std::vector<char> still;
      for (const char who : waiting) {
        if (who == 'a' || who == 'b') {
          Serving(std::string(1, who), who, who);
          ++servers;
          continue;
        }
        const auto reply = Client(/*takes_part=*/true, who);
        if (servers < 2) {
          EXPECT_THAT(
              reply, StatusIs(absl::StatusCode::kUnavailable,
                              absl::StrCat("waiting for servers: ", servers, " of 2, missing ", 2 - servers, " more")));
          still.push_back(who);
          continue;
        }
        ASSERT_OK(reply);
        ranks.push_back(reply->rank());
        EXPECT_EQ(reply->map().version(), 1u);
        EXPECT_THAT(reply->map().server_of_shard(), ::testing::ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
        EXPECT_NE(reply->map().servers(0).tcp(), reply->map().servers(1).tcp());
      }
      waiting = still;
    }
    EXPECT_THAT(ranks, ::testing::ElementsAre(0, 1));
    EXPECT_EQ(State(), "training");
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(ClusterTest, JobTellsWhatItWaitsFor) {
  Make(2, 2);
  EXPECT_EQ(State(), "waiting for servers: 0 of 2, missing 2 more");
  Serving("a", 1, 1);
  EXPECT_EQ(State(), "waiting for servers: 1 of 2, missing 1 more");
  const auto b = Server("b", 2, 2);
  ASSERT_OK(b);
  EXPECT_EQ(State(), "waiting for servers: 1 of 2, server 1 ('b' at h:2) is starting");
  EXPECT_THAT(Client(true, 10), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is starting")));
  ASSERT_OK(Beat(*b));
  EXPECT_EQ(State(), "waiting for workers: 0 of 2, missing 2 more");
  const auto first = Client(true, 10);
  const auto second = Client(true, 11);
  ASSERT_OK(second);
  EXPECT_EQ(State(), "training");
  ASSERT_OK(Beat(*first, "", /*finished=*/true));
  EXPECT_EQ(State(), "training");
  ASSERT_OK(Beat(*second, "", /*finished=*/true));
  EXPECT_EQ(State(), "finished");
  EXPECT_EQ(cluster_->Status().workers(0).position().step(), 7u);
}

TEST_F(ClusterTest, NameOfALivingServerIsTaken) {
  Make(2, 1);
  Serving("a", 1, 1);
  EXPECT_THAT(Server("a", 2, 2), StatusIs(absl::StatusCode::kAlreadyExists,
                                          "the name 'a' is taken by server 0 ('a' at h:1), heard from 0 ago"));
}

TEST_F(ClusterTest, ServerWithoutANameHasItsAddress) {
  Make(1, 1);
  Serving("", 1, 1);
  EXPECT_EQ(cluster_->Status().servers(0).name(), "h:1");
}

TEST_F(ClusterTest, OneServerTooManyIsRefused) {
  Make(1, 1);
  Serving("a", 1, 1);
  EXPECT_THAT(Server("b", 2, 2), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          "'b' is one server too many: the job has 1: server 0 ('a' at h:1)"));
}

TEST_F(ClusterTest, RepeatedRegistrationIsAnsweredAsTheFirst) {
  Make(2, 2);
  const auto first = Server("a", 1, 1);
  const auto again = Server("a", 1, 1);
  ASSERT_OK(again);
  EXPECT_EQ(again->server(), first->server());
  EXPECT_EQ(again->incarnation(), 1u);
  ASSERT_OK(Beat(*first));
  Serving("b", 2, 2);
  EXPECT_EQ(Client(true, 10)->rank(), 0u);
  EXPECT_EQ(Client(true, 10)->rank(), 0u);
  EXPECT_EQ(Client(true, 11)->rank(), 1u);
}

TEST_F(ClusterTest, EveryStartOfAServerRaisesItsIncarnationAndTheMapsVersion) {
  Make(1, 1);
  const auto old = Serving("a", 1, 1);
  // The address leads to the new process: the old one is gone, whatever its lease says.
  const auto now = Serving("a", 1, 2);
  EXPECT_EQ(now.server(), old.server());
  EXPECT_EQ(now.incarnation(), 2u);
  EXPECT_THAT(Beat(old), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has been replaced")));
  EXPECT_OK(Beat(now));
  EXPECT_EQ(Client(true, 10)->map().version(), 2u);
}

TEST_F(ClusterTest, BeforeTheJobBeginsAServerThatIsGoneCanBeReplaced) {
  Make(2, 1);
  const auto a = Serving("a", 1, 1);
  Serving("b", 2, 2);
  Advance(kLease + absl::Seconds(5));
  EXPECT_EQ(
      State(),
      "waiting for servers: 0 of 2, the lease of server 0 ('a' at h:1) expired 5s ago, the lease of server 1 ('b' "
      "at h:2) expired 5s ago");
  ASSERT_OK(Beat(a));  // It was only slow.
  EXPECT_EQ(cluster_->Status().servers(0).state(), "serving");
  EXPECT_EQ(cluster_->Status().servers(1).state(), "lease expired");
  const auto c = Serving("c", 3, 3);
  EXPECT_EQ(c.server(), 1u);
  EXPECT_EQ(c.incarnation(), 2u);
}

TEST_F(ClusterTest, OnceTheJobHasBegunNoEmptyServerTakesAPlace) {
  Make(1, 1);
  const auto a = Serving("a", 1, 1);
  const auto worker = Client(true, 10);
  ASSERT_OK(worker);
  EXPECT_THAT(Server("a", 1, 2), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("the job has begun")));
  for (int i = 0; i < 40; ++i) {
    Advance(absl::Seconds(1));
    ASSERT_OK(Beat(*worker));
  }
  EXPECT_THAT(State(), HasSubstr("waiting for servers: 0 of 1, the lease of server 0 ('a' at h:1) expired 10s ago"));
  EXPECT_THAT(Beat(*worker)->waiting(), HasSubstr("expired"));
  EXPECT_THAT(Server("b", 2, 2), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("too many")));
  ASSERT_OK(Beat(a));  // It comes back with its rows.
  EXPECT_EQ(State(), "training");
}

TEST_F(ClusterTest, WorkerThatIsNotHeardFromFailsTheJobForAll) {
  Make(1, 2);
  const auto server = Serving("a", 1, 1);
  const auto first = Client(true, 10);
  const auto second = Client(true, 11);
  for (int i = 0; i < 31; ++i) {
    Advance(absl::Seconds(1));
    ASSERT_OK(Beat(server));
    ASSERT_OK(Beat(*first));
  }
  const std::string why = "rank 1 (on host) was not heard from for 31s";
  EXPECT_EQ(Beat(*first)->failure(), why);
  EXPECT_EQ(Beat(server)->failure(), why);
  EXPECT_FALSE(Beat(server)->stop());
  EXPECT_EQ(State(), "failed: " + why);
  EXPECT_EQ(cluster_->Status().workers(1).state(), "lease expired");
  EXPECT_EQ(Beat(*second)->failure(), why);  // It was only slow: it learns it too.
  EXPECT_THAT(Client(true, 12), StatusIs(absl::StatusCode::kFailedPrecondition, "the job has failed: " + why));
}

TEST_F(ClusterTest, ReportedFailureReachesEverybodyAndTheFirstOneCounts) {
  Make(1, 2);
  const auto server = Serving("a", 1, 1);
  const auto first = Client(true, 10);
  const auto second = Client(true, 11);
  EXPECT_EQ(Beat(*second)->failure(), "");
  ASSERT_OK(Beat(*first, "loss is not finite"));
  EXPECT_EQ(Beat(*second)->failure(), "rank 0 ended: loss is not finite");
  ASSERT_OK(Beat(*second, "so I end too"));
  EXPECT_EQ(Beat(server)->failure(), "rank 0 ended: loss is not finite");
  EXPECT_EQ(State(), "failed: rank 0 ended: loss is not finite");
  EXPECT_EQ(cluster_->Status().workers(1).state(), "failed");
}

TEST_F(ClusterTest, FinishedWorkerNeedsNoLease) {
  Make(1, 2);
  const auto server = Serving("a", 1, 1);
  const auto first = Client(true, 10);
  const auto second = Client(true, 11);
  ASSERT_OK(Beat(*first, "", /*finished=*/true));
  for (int i = 0; i < 100; ++i) {
    Advance(absl::Seconds(1));
    ASSERT_OK(Beat(*second));
    ASSERT_OK(Beat(server));
  }
  EXPECT_EQ(State(), "training");
}

TEST_F(ClusterTest, ServerThatEndsFailsAJobThatTrainsAndNoOther) {
  Make(1, 1);
  ASSERT_OK(Beat(Serving("a", 1, 1), /*leaving=*/true));
  EXPECT_EQ(State(), "waiting for servers: 0 of 1, missing 1 more");
  const auto server = Serving("a", 1, 2);
  const auto worker = Client(true, 10);
  ASSERT_OK(Beat(server, /*leaving=*/true));
  EXPECT_EQ(State(), "failed: server 0 ('a' at h:1) has ended");
  Make(1, 1);
  const auto other = Serving("a", 1, 1);
  ASSERT_OK(Beat(*Client(true, 10), "", /*finished=*/true));
  ASSERT_OK(Beat(other, /*leaving=*/true));
  EXPECT_EQ(State(), "finished");
}

TEST_F(ClusterTest, PauseOfTheCoordinatorCostsNobodyItsLease) {
  Make(1, 1);
  const auto server = Serving("a", 1, 1);
  const auto worker = Client(true, 10);
  clock_.Advance(absl::Hours(1));
  cluster_->Tick();
  EXPECT_EQ(State(), "training");
  clock_.Advance(-absl::Hours(2));  // Somebody sets the clock.
  cluster_->Tick();
  EXPECT_EQ(State(), "training");
  Advance(kLease + absl::Seconds(1));
  EXPECT_THAT(State(), HasSubstr("failed: rank 0"));
}

TEST_F(ClusterTest, ToolsHaveRanksOfTheirOwn) {
  Make(1, 1);
  EXPECT_THAT(Client(false, 1), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("waiting for servers")));
  Serving("a", 1, 1);
  EXPECT_EQ(Client(false, 1)->rank(), kFirstToolRank);
  EXPECT_EQ(Client(false, 1)->rank(), kFirstToolRank + 1);
  EXPECT_EQ(Client(true, 1)->rank(), 0u);
  EXPECT_THAT(Client(true, 2), StatusIs(absl::StatusCode::kFailedPrecondition, "all 1 ranks of the job are taken"));
}

TEST_F(ClusterTest, StoppedJobEndsWhenAllHaveBeenTold) {
  Make(2, 1);
  const auto a = Serving("a", 1, 1);
  Serving("b", 2, 2);
  const auto worker = Client(true, 10);
  EXPECT_FALSE(cluster_->MayExit());
  cluster_->Stop();
  EXPECT_EQ(State(), "stopping");
  EXPECT_FALSE(cluster_->MayExit());
  EXPECT_EQ(Beat(*worker)->failure(), "the job was stopped");
  EXPECT_TRUE(Beat(a)->stop());
  ASSERT_OK(Beat(a, /*leaving=*/true));
  EXPECT_FALSE(cluster_->MayExit());
  Advance(kLease + absl::Seconds(1));  // The other server is gone without a word.
  EXPECT_TRUE(cluster_->MayExit());
  EXPECT_THAT(Server("c", 3, 3), StatusIs(absl::StatusCode::kFailedPrecondition, "the job was stopped"));
}

TEST_F(ClusterTest, MembersOfAnotherCoordinatorAreUnknown) {
  Make(1, 1);
  proto::RegisterServerReply server;
  server.set_incarnation(1);
  proto::RegisterClientReply worker;
  worker.set_incarnation(1);
  EXPECT_THAT(Beat(server), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("started anew")));
  EXPECT_THAT(Beat(worker), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("started anew")));
}

TEST_F(ClusterTest, OtherProtocolIsRefused) {
  Make(1, 1);
  proto::RegisterServerRequest request;
  request.set_protocol(99);
  EXPECT_THAT(cluster_->RegisterServer(request),
              StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("99"), HasSubstr("speaks 1"))));
}

TEST_F(ClusterTest, ServerThatComesLaterLearnsAllTables) {
  Make(2, 1);
  Serving("a", 1, 1);
  proto::TableSpec spec;
  spec.set_name("ads");
  spec.add_slices()->set_width(4);
  EXPECT_THAT(cluster_->CheckOpen(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("missing 1 more")));
  ASSERT_OK(cluster_->catalogue()->Begin(spec));
  const auto b = Server("b", 2, 2);
  ASSERT_OK(b);
  ASSERT_EQ(b->tables_size(), 1);
  EXPECT_EQ(b->tables(0).table().name(), "ads");
}

TEST(ClusterOptionsTest, WrongOnesAreNamed) {
  Cluster::Options options;
  options.job.set_num_ranks(1);
  options.job.set_num_shards(4);
  options.num_servers = 5;
  EXPECT_THAT(Cluster::Check(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("5 servers and 4")));
  options.num_servers = 4;
  EXPECT_OK(Cluster::Check(options));
  options.job.set_num_shards(3);
  EXPECT_THAT(Cluster::Check(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("3 shards")));
}

}  // namespace
}  // namespace rowan
