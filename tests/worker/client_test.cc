#include "worker/client.h"

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/status_macros.h"
#include "gtest/gtest.h"
#include "tests/local_job.h"
#include "tests/server/table/engine_fixture.h"
#include "tests/server/table/keys.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::DenseOf;
using ::rowan::testing::JobOf;
using ::rowan::testing::LocalJob;
using ::rowan::testing::OddKeys;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TableOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kSync = proto::JobSpec::SYNC;
constexpr auto kBounded = proto::JobSpec::BOUNDED;
constexpr auto kAsync = proto::JobSpec::ASYNC;
constexpr auto kSgd = proto::Optimizer::SGD;

// A table of width 1 whose values start at 0 and move by exactly what is pushed.
proto::TableSpec Counter() {
  proto::TableSpec spec = TableOf("counter", 1, kSgd);
  spec.mutable_slices(0)->clear_initializer();
  return spec;
}

float Value(Client* client, const Table& table, uint64_t key) {
  float value = NAN;
  EXPECT_OK(client->Lookup({{table, {&key, 1}, {&value, 1}}}));
  return value;
}

TEST(ClientTest, SyncRanksSeeExactlyThePushesOfAllEarlierSteps) {
  for (uint32_t ranks = 1; ranks <= 4; ++ranks) {
    LocalJob job(JobOf(kSync, ranks));
    constexpr uint64_t kSteps = 40;
    EXPECT_OK(job.RunRanks([&](Client* client) -> absl::Status {
      ROWAN_ASSIGN_OR_RETURN(const Table table, client->OpenTable(Counter()));
      const std::vector<uint64_t> keys = {7, 100 + client->rank()};
      const std::vector<float> ones = {1, 1};
      for (uint64_t t = 0; t < kSteps; ++t) {
        ROWAN_ASSIGN_OR_RETURN(Step step, client->BeginStep());
        EXPECT_EQ(step.number(), t);
        std::vector<float> rows(2);
        ROWAN_RETURN_IF_ERROR(step.Pull({{table, keys, absl::MakeSpan(rows)}}, {}).Wait());
        EXPECT_EQ(rows, (std::vector<float>{-float(ranks * t), -float(t)})) << "step " << t;
        ROWAN_RETURN_IF_ERROR(step.Push({{table, keys, ones}}, {}, /*weight=*/0).Wait());
      }
      ROWAN_RETURN_IF_ERROR(client->Finish());
      EXPECT_EQ(Value(client, table, 7), -float(ranks * kSteps)) << "finished means applied";
      return absl::OkStatus();
    }));
    EXPECT_EQ(job.server()->applied(), kSteps);
  }
}

// Training that feeds back: gradients depend on what was pulled, weights and empty steps differ by rank.
absl::Status Train(Client* client, uint64_t steps) {
  ROWAN_ASSIGN_OR_RETURN(const Table ads, client->OpenTable(TableOf("ads", 5, proto::Optimizer::ADAGRAD, 0.1f)));
  ROWAN_ASSIGN_OR_RETURN(const Table users, client->OpenTable(TableOf("users", 2, proto::Optimizer::ADAM, 0.1f)));
  ROWAN_ASSIGN_OR_RETURN(const Dense tower, client->OpenDense(DenseOf("tower", 9000, proto::Optimizer::FTRL, 0.1f)));
  for (uint64_t t = 0; t < steps; ++t) {
    std::mt19937_64 random(t * 100 + client->rank());
    ROWAN_ASSIGN_OR_RETURN(Step step, client->BeginStep());
    std::vector<uint64_t> keys(random() % 3 == 0 ? 0 : random() % 200);
    for (uint64_t& key : keys) key = random() % 150;
    std::vector<float> ads_rows(keys.size() * 5), users_rows(keys.size() * 2), weights(9000);
    ROWAN_RETURN_IF_ERROR(step.Pull({{ads, keys, absl::MakeSpan(ads_rows)}, {users, keys, absl::MakeSpan(users_rows)}},
                                    {{tower, absl::MakeSpan(weights)}})
                              .Wait());
    for (auto* values : {&ads_rows, &users_rows, &weights}) {
      for (float& v : *values) v = std::sin(1000 * v) + static_cast<float>(random() % 1000) * 1e-3f;
    }
    ROWAN_RETURN_IF_ERROR(
        step.Push({{ads, keys, ads_rows}, {users, keys, users_rows}}, {{tower, weights}}, keys.size()).Wait());
  }
  return client->Finish();
}

std::string TrainedDigest(const proto::JobSpec& spec, int threads, ThreadPool* client_pool = nullptr) {
  LocalJob job(spec, threads);
  if (spec.num_ranks() > 1) {
    EXPECT_OK(job.RunRanks([](Client* client) { return Train(client, 15); }));
  } else {
    Client::Options options = job.Options();
    options.pool = client_pool;
    const auto client = LocalJob::Connect(options);
    EXPECT_OK(Train(client.get(), 15));
  }
  return job.Digest();
}

TEST(ClientTest, SyncResultsAreEqualToTheBitForAnyThreadsAndShards) {
  const std::string expected = TrainedDigest(JobOf(kSync, 3, 16), 1);
  for (const int threads : {1, 2, 3}) {
    for (const uint32_t shards : {1u, 16u, 256u}) {
      EXPECT_EQ(TrainedDigest(JobOf(kSync, 3, shards), threads), expected) << threads << " threads, " << shards;
    }
  }
  EXPECT_NE(TrainedDigest(JobOf(kSync, 2, 16), 1), expected) << "the digest can differ";
}

TEST(ClientTest, BoundedByZeroAndAsyncWithOneWorkerEqualSyncToTheBit) {
  const std::string sync = TrainedDigest(JobOf(kSync, 1), 2);
  EXPECT_EQ(TrainedDigest(JobOf(kBounded, 1), 2), sync);
  EXPECT_EQ(TrainedDigest(JobOf(kAsync, 1), 2), sync);
  ThreadPool pool(3);
  EXPECT_EQ(TrainedDigest(JobOf(kAsync, 1), 2, &pool), sync);
}

TEST(ClientTest, RanksWithEmptyStepsOrFewerStepsHangNobody) {
  LocalJob job(JobOf(kSync, 4));
  EXPECT_OK(job.RunRanks([&](Client* client) -> absl::Status {
    ROWAN_ASSIGN_OR_RETURN(const Table table, client->OpenTable(Counter()));
    const std::vector<uint64_t> keys = {7};
    const std::vector<float> one = {1};
    const uint64_t steps[] = {20, 20, 6, 0};
    for (uint64_t t = 0; t < steps[client->rank()]; ++t) {
      ROWAN_ASSIGN_OR_RETURN(Step step, client->BeginStep());
      if (client->rank() == 0) {
        float row;
        ROWAN_RETURN_IF_ERROR(step.Pull({{table, keys, {&row, 1}}}, {}).Wait());
        EXPECT_EQ(row, -float(t));
        ROWAN_RETURN_IF_ERROR(step.Push({{table, keys, one}}, {}, 0).Wait());
      } else {
        ROWAN_RETURN_IF_ERROR(step.Push({}, {}, 0).Wait());  // Without a pull, too.
      }
    }
    return client->Finish();
  }));
  EXPECT_EQ(job.server()->applied(), 20u);
}

TEST(ClientTest, BoundedRanksNeverSeeMoreThanTheBound) {
  constexpr uint32_t kRanks = 3, kStaleness = 2;
  LocalJob job(JobOf(kBounded, kRanks, 16, kStaleness));
  EXPECT_OK(job.RunRanks([&](Client* client) -> absl::Status {
    ROWAN_ASSIGN_OR_RETURN(const Table table, client->OpenTable(Counter()));
    const std::vector<uint64_t> all = {0, 1, 2}, own = {client->rank()};
    const std::vector<float> one = {1};
    for (uint64_t t = 0; t < 100; ++t) {
      ROWAN_ASSIGN_OR_RETURN(Step step, client->BeginStep());
      std::vector<float> rows(kRanks);
      ROWAN_RETURN_IF_ERROR(step.Pull({{table, all, absl::MakeSpan(rows)}}, {}).Wait());
      EXPECT_EQ(rows[client->rank()], -float(t)) << "own pushes";
      for (const float row : rows) EXPECT_GE(-row + kStaleness, t);
      ROWAN_RETURN_IF_ERROR(step.Push({{table, own, one}}, {}, 0).Wait());
    }
    return client->Finish();
  }));
}

TEST(ClientTest, FourThreadsOfAThousandBarePushesMoveByExactlyFourThousand) {
  for (const bool one_client : {true, false}) {
    LocalJob job(JobOf(kAsync, 1));
    const auto shared = job.ConnectTool();
    const Table table = *shared->OpenTable(Counter());
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const auto own = one_client ? nullptr : job.ConnectTool();
        const std::vector<uint64_t> keys = {7};
        const std::vector<float> one = {1};
        for (int push = 0; push < 1000; ++push) {
          ASSERT_OK((one_client ? shared : own)->PushBare({{table, keys, one}}));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Value(shared.get(), table, 7), -4000.0f);
    EXPECT_EQ(job.server()->counts().born_rows, 1);
  }
}

// A server whose first push is stuck until the test lets it go on.
class SlowFirstPush final : public DataPlane {
 public:
  explicit SlowFirstPush(DataPlane* server) : server_(server) {}
  absl::Status Hello(const RequestHeader& h, HelloReply* reply) override { return server_->Hello(h, reply); }
  void Pull(const PullRequest* r, PullWaiting w, PullDone d) override { server_->Pull(r, std::move(w), std::move(d)); }
  void CancelPull(const PullRequest* r) override { server_->CancelPull(r); }
  void Lookup(const PullRequest* r, PullDone d) override { server_->Lookup(r, std::move(d)); }
  void Push(PushRequest request, PushDone done) override {
    if (request.header.number > 0) {
      server_->Push(std::move(request), std::move(done));
      MutexLock lock(&mu_);
      ++others_;
      changed_.SignalAll();
      return;
    }
    {
      MutexLock lock(&mu_);
      // All numbers inside the window have come, and nobody is on the way with one beyond.
      while (others_ < PushWindow::kBelow) changed_.WaitWithTimeout(&mu_, absl::Seconds(1));
      changed_.WaitWithTimeout(&mu_, absl::Milliseconds(50));
    }
    server_->Push(std::move(request), std::move(done));
  }

 private:
  DataPlane* const server_;
  Mutex mu_;
  CondVar changed_;
  uint64_t others_ ABSL_GUARDED_BY(mu_) = 0;
};

TEST(ClientTest, AStuckBarePushIsNotOvertakenByMoreThanTheWindow) {
  LocalJob job(JobOf(kAsync, 1));
  SlowFirstPush slow(job.server());
  Client::Options options = job.Options();
  options.takes_part = false;
  options.servers = {&slow};
  const auto client = LocalJob::Connect(options);
  const Table table = *client->OpenTable(Counter());
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const std::vector<uint64_t> keys = {7};
      const std::vector<float> one = {1};
      for (int push = 0; push < 100; ++push) ASSERT_OK(client->PushBare({{table, keys, one}}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Value(client.get(), table, 7), -300.0f);
}

TEST(ClientTest, TwoWorkersFirstTouchingAKeyMakeOneRow) {
  for (int round = 0; round < 30; ++round) {
    LocalJob job(JobOf(kAsync, 2));
    EXPECT_OK(job.RunRanks([](Client* client) -> absl::Status {
      ROWAN_ASSIGN_OR_RETURN(const Table table, client->OpenTable(Counter()));
      ROWAN_ASSIGN_OR_RETURN(Step step, client->BeginStep());
      const std::vector<uint64_t> keys = {7};
      const std::vector<float> one = {1};
      ROWAN_RETURN_IF_ERROR(step.Push({{table, keys, one}}, {}, 0).Wait());
      return client->Finish();
    }));
    const auto tool = job.ConnectTool();
    EXPECT_EQ(Value(tool.get(), *tool->OpenTable(Counter()), 7), -2);
    EXPECT_EQ(job.server()->counts().born_rows, 1);
  }
}

TEST(ClientTest, EveryKeyAndAnyNumberOfThemIsLegal) {
  LocalJob job(JobOf(kAsync, 1, 256));
  ThreadPool pool(2);
  Client::Options options = job.Options();
  options.takes_part = false;
  options.pool = &pool;
  const auto client = LocalJob::Connect(options);
  const Table table = *client->OpenTable(Counter());
  for (const size_t n : {size_t{0}, size_t{1}, size_t{16}, size_t{100000}, size_t{2000000}}) {
    std::vector<uint64_t> keys = OddKeys();
    for (uint64_t i = keys.size(); i < n; ++i) keys.push_back(i * 0x9e3779b97f4a7c15u);
    keys.resize(n);
    std::vector<float> before(n), after(n);
    std::vector<Outcome> outcomes(n);
    EXPECT_OK(client->Lookup({{table, keys, absl::MakeSpan(before)}}));
    EXPECT_OK(client->PushBare({{table, keys, std::vector<float>(n, 1.0f)}}));
    EXPECT_OK(client->Lookup({{table, keys, absl::MakeSpan(after), absl::MakeSpan(outcomes)}}));
    size_t wrong = 0;
    for (size_t i = 0; i < n; ++i) wrong += after[i] != before[i] - 1 || outcomes[i] != Outcome::kFound;
    EXPECT_EQ(wrong, 0u) << n << " keys";
  }
}

TEST(ClientTest, DuplicatesInAPushMeanTheirSum) {
  LocalJob job(JobOf(kSync, 1));
  const auto client = job.Connect();
  const Table table = *client->OpenTable(TableOf("t", 1, kSgd));
  const std::vector<uint64_t> keys = {7, 7, 7};
  const std::vector<float> gradients = {1, 2, 3};
  const float before = Value(client.get(), table, 7);
  Step step = *client->BeginStep();
  EXPECT_OK(step.Push({{table, keys, gradients}}, {}, 0).Wait());
  EXPECT_EQ(Value(client.get(), table, 7), before) << "held until the step ends";
  EXPECT_OK(client->Finish());
  EXPECT_EQ(Value(client.get(), table, 7), before - 6);
}

TEST(ClientTest, NanIsRefusedPerRowAndForADenseParameterAsAWhole) {
  LocalJob job(JobOf(kSync, 1));
  const auto client = job.Connect();
  const Table table = *client->OpenTable(Counter());
  const Dense dense = *client->OpenDense(DenseOf("d", 9000, kSgd));
  const std::vector<uint64_t> keys = {1, 2, 3};
  const std::vector<float> gradients = {NAN, 1, INFINITY};
  std::vector<float> tower(9000, 1), pulled(9000);
  tower[8999] = -INFINITY;
  Step step = *client->BeginStep();
  EXPECT_OK(step.Push({{table, keys, gradients}}, {{dense, tower}}, 0).Wait());
  EXPECT_OK(client->Finish());
  EXPECT_EQ(Value(client.get(), table, 1), 0);
  EXPECT_EQ(Value(client.get(), table, 2), -1);
  EXPECT_EQ(Value(client.get(), table, 3), 0);
  EXPECT_OK(client->Lookup({}, {{dense, absl::MakeSpan(pulled)}}));
  EXPECT_EQ(pulled, std::vector<float>(9000, 0.0f));
  EXPECT_EQ(job.server()->counts().refused_rows, 2);
  EXPECT_EQ(job.server()->counts().refused_dense, 1);
}

TEST(ClientTest, ADeadlineNamesWhomTheCallWaitedForAndFreesItsMemory) {
  LocalJob job(JobOf(kSync, 2));
  Client::Options options = job.Options();
  options.deadline = absl::Milliseconds(20);
  const auto hasty = LocalJob::Connect(options);
  const auto slow = job.Connect();
  const Table table = *hasty->OpenTable(Counter());
  const std::vector<uint64_t> keys = {7};
  const std::vector<float> one = {1};
  Step step = *hasty->BeginStep();
  EXPECT_OK(step.Push({{table, keys, one}}, {}, 0).Wait());
  {
    Step next = *hasty->BeginStep();
    std::vector<float> dying_rows(1, 5);  // Freed before the server could answer: asan watches.
    EXPECT_THAT(next.Pull({{table, keys, absl::MakeSpan(dying_rows)}}, {}).Wait(),
                StatusIs(absl::StatusCode::kDeadlineExceeded,
                         "no answer within 20ms: given up while waiting for rank 1 (push of step 0)"));
    EXPECT_THAT(dying_rows, ElementsAre(5));
  }
  EXPECT_OK((*slow->BeginStep()).Push({{table, keys, one}}, {}, 0).Wait());
  EXPECT_OK(slow->Finish());
  EXPECT_EQ(Value(slow.get(), table, 7), -2);
}

TEST(ClientTest, StopReleasesEveryRankThatWaits) {
  LocalJob job(JobOf(kSync, 4));
  const absl::Status status = job.RunRanks([&](Client* client) -> absl::Status {
    ROWAN_ASSIGN_OR_RETURN(Step step, client->BeginStep());
    if (client->rank() == 3) {
      job.server()->Stop(absl::CancelledError("rank 3 ended: disk full"));
      return absl::OkStatus();
    }
    if (absl::Status pushed = step.Push({}, {}, 0).Wait(); !pushed.ok()) return pushed;
    const absl::Status finished = client->Finish();
    EXPECT_THAT(finished, StatusIs(absl::StatusCode::kCancelled, "rank 3 ended: disk full"));
    return finished;
  });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled, "rank 3 ended: disk full"));
}

TEST(ClientTest, StepsOutOfTurnAreRefusedAndTheClientLives) {
  LocalJob job(JobOf(kSync, 1));
  const auto client = job.Connect();
  const Table table = *client->OpenTable(Counter());
  const std::vector<uint64_t> keys = {7};
  const std::vector<float> one = {1};
  Step step = *client->BeginStep();
  EXPECT_THAT(client->BeginStep(), StatusIs(kFailed, HasSubstr("step 0 was not pushed")));
  EXPECT_THAT(client->Finish(), StatusIs(kFailed, "step 0 was begun and not pushed"));
  EXPECT_THAT(client->PushBare({{table, keys, one}}), StatusIs(kFailed, HasSubstr("inside steps only")));
  // A push that is refused may be repeated.
  EXPECT_THAT(step.Push({{table, keys, one}}, {}, -1).Wait(), StatusIs(kInvalid, HasSubstr("push of weight -1")));
  EXPECT_OK(step.Push({{table, keys, one}}, {}, 0).Wait());
  EXPECT_THAT(step.Push({{table, keys, one}}, {}, 0).Wait(), StatusIs(kFailed, "step was pushed already: 0"));
  Step next = *client->BeginStep();
  EXPECT_OK(next.Push({}, {}, 0).Wait());
  float row;
  EXPECT_THAT(step.Pull({{table, keys, {&row, 1}}}, {}).Wait(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("pull of step 0, which is applied")));
  EXPECT_OK(client->Finish());
  EXPECT_OK(client->Finish()) << "again";
  EXPECT_THAT(client->BeginStep(), StatusIs(kFailed, HasSubstr("finished")));
  EXPECT_EQ(Value(client.get(), table, 7), -1);

  LocalJob async(JobOf(kAsync, 1));
  const auto worker = async.Connect();
  Step first = *worker->BeginStep(), second = *worker->BeginStep();  // A pipeline.
  EXPECT_THAT(second.Push({}, {}, 0).Wait(), StatusIs(kFailed, "an earlier step was not pushed yet: 1"));
  EXPECT_OK(first.Push({}, {}, 0).Wait());
  EXPECT_OK(second.Push({}, {}, 0).Wait());
  EXPECT_THAT(worker->PushBare({}), StatusIs(kFailed, HasSubstr("connect a tool")));
  const auto tool = async.ConnectTool();
  EXPECT_THAT(tool->BeginStep(), StatusIs(kFailed, "a tool takes no part in steps"));
  EXPECT_THAT(tool->Finish(), StatusIs(kFailed, "a tool takes no part in steps"));
}

TEST(ClientTest, WrongSizesAndTablesAreNamed) {
  LocalJob job(JobOf(kAsync, 1));
  const auto client = job.Connect();
  const auto tool = job.ConnectTool();
  const Table table = *client->OpenTable(TableOf("t", 4, kSgd));
  const Dense dense = *client->OpenDense(DenseOf("d", 5, kSgd));
  const std::vector<uint64_t> keys = {1, 2};
  std::vector<float> floats(8);
  const absl::Span<float> all = absl::MakeSpan(floats);
  std::vector<Outcome> outcomes(1);
  const std::vector<uint32_t> three = {1, 1, 1};
  EXPECT_THAT(client->Lookup({{table, keys, all.first(7)}}),
              StatusIs(kInvalid, "pull from table 't': 7 floats given, 8 expected"));
  EXPECT_THAT(client->Lookup({{table, keys, all, absl::MakeSpan(outcomes)}}),
              StatusIs(kInvalid, HasSubstr("1 outcomes")));
  EXPECT_THAT(client->Lookup({}, {{dense, all.first(4)}}),
              StatusIs(kInvalid, "pull of dense parameter 'd': 4 floats given, 5 expected"));
  EXPECT_THAT(tool->PushBare({{table, keys, all.first(7)}}),
              StatusIs(kInvalid, "push to table 't': 7 floats given, 8 expected"));
  EXPECT_THAT(tool->PushBare({{table, keys, all, three}}),
              StatusIs(kInvalid, "push to table 't': 2 keys, 3 occurrences"));
  EXPECT_THAT(tool->PushBare({}, {{dense, all.first(4)}}),
              StatusIs(kInvalid, "push to dense parameter 'd': 4 floats given, 5 expected"));
  EXPECT_THAT(client->Lookup({{Table(), keys, all}}), StatusIs(kInvalid, "pull from a table that was never opened"));
  EXPECT_THAT(client->Lookup({}, {{Dense(), all}}), StatusIs(kInvalid, HasSubstr("never opened")));
  EXPECT_THAT(tool->PushBare({{Table(), keys, all}}), StatusIs(kInvalid, "push to a table that was never opened"));
  EXPECT_THAT(tool->PushBare({}, {{Dense(), all}}), StatusIs(kInvalid, HasSubstr("never opened")));
  OpenedTable stranger;
  stranger.id = 99;
  stranger.spec = TableOf("of another job", 4, kSgd);
  EXPECT_THAT(client->Lookup({{Table(stranger), keys, all}}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("99")));
  EXPECT_THAT(tool->PushBare({{Table(stranger), keys, all}}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("99")));
  EXPECT_THAT(client->OpenTable(TableOf("t", 5, kSgd)), StatusIs(kFailed, "table 't' slice 0 width is 4, not 5"));
  EXPECT_THAT(client->OpenDense(DenseOf("d", 6, kSgd)), StatusIs(kFailed, "dense parameter 'd' size is 5, not 6"));
  EXPECT_THAT(client->OpenTable(TableOf("w", 0, kSgd)), StatusIs(kInvalid, HasSubstr("width 0, must be 1 to 4096")));
  EXPECT_OK(client->Lookup({{table, keys, all}}));
  EXPECT_OK(tool->PushBare({{table, keys, all}}, {{dense, all.first(5)}}));
}

TEST(ClientTest, AWorkerBeginsWhereTheJobGoesOn) {
  LocalJob job(JobOf(kSync, 2), 2, /*applied=*/10);
  EXPECT_THAT(Client::Connect(job.Options()),
              StatusIs(kFailed, "the job goes on with step 10, the worker of rank 0 with step 0"));
  Client::Options options = job.Options();
  options.first_step = 10;
  const auto client = LocalJob::Connect(options);
  EXPECT_EQ(client->BeginStep()->number(), 10u);
  EXPECT_THAT(Client::Connect(options), StatusIs(kFailed, "all 2 ranks of the job are taken"));
  EXPECT_THAT(Client::Connect({}), StatusIs(kInvalid, HasSubstr("needs the coordinator and the server")));
  EXPECT_NE(job.ConnectTool(), nullptr);
}

TEST(ClientTest, LookupsSeeWhatIsThereInsideAndOutsideSteps) {
  LocalJob job(JobOf(kSync, 1));
  const auto client = job.Connect();
  proto::TableSpec spec = TableOf("t", 2, kSgd);
  spec.set_absent(proto::TableSpec::ZERO);
  const Table table = *client->OpenTable(spec);
  const std::vector<uint64_t> keys = {7, 8};
  std::vector<float> rows(4, 9), first(4);
  std::vector<Outcome> outcomes(2);
  EXPECT_OK(client->Lookup({{table, keys, absl::MakeSpan(rows), absl::MakeSpan(outcomes)}}));
  EXPECT_THAT(rows, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(outcomes, ElementsAre(Outcome::kAbsent, Outcome::kAbsent));
  const std::string before = job.Digest();
  Step step = *client->BeginStep();
  EXPECT_OK(step.Pull({{table, keys, absl::MakeSpan(rows)}}, {}).Wait());
  EXPECT_EQ(job.Digest(), before) << "a pull changes nothing";
  EXPECT_OK(step.Push({{table, {keys.data(), 1}, std::vector<float>{1, 1}}}, {}, 0).Wait());
  EXPECT_OK(client->Lookup({{table, keys, absl::MakeSpan(rows), absl::MakeSpan(outcomes)}}));
  EXPECT_THAT(outcomes, ElementsAre(Outcome::kAbsent, Outcome::kAbsent));
  EXPECT_OK(client->Finish());
  EXPECT_OK(client->Lookup({{table, keys, absl::MakeSpan(rows), absl::MakeSpan(outcomes)}}));
  EXPECT_THAT(outcomes, ElementsAre(Outcome::kFound, Outcome::kAbsent));
}

}  // namespace
}  // namespace rowan
