#include "server/service/parameter_server.h"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/types/optional.h"
#include "common/mutex.h"
#include "gtest/gtest.h"
#include "tests/server/table/engine_fixture.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::DenseOf;
using ::rowan::testing::MakePush;
using ::rowan::testing::RowGradients;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TableOf;
using ::rowan::testing::TestEngine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kAborted = absl::StatusCode::kAborted;
constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;
constexpr auto kCancelled = absl::StatusCode::kCancelled;
constexpr auto kSync = proto::JobSpec::SYNC;

// A pull on its way, with its answer.
struct TestPull {
  PullRequest request;
  std::vector<uint64_t> keys;
  std::vector<float> rows;
  absl::optional<absl::Status> answer;
};

// One server over one table of width 1 (id 1, SGD, rate 1, from zeros). Calls from one thread are answered in it.
class Server {
 public:
  Server(proto::JobSpec::Mode mode, uint32_t ranks, uint32_t staleness = 0, uint64_t applied = 0) : engine(16) {
    ParameterServer::Options options;
    proto::JobSpec& job = options.job;
    job.set_mode(mode);
    job.set_num_ranks(ranks);
    job.set_staleness(staleness);
    job.set_num_shards(16);
    proto::TableSpec spec = TableOf("t", 1, proto::Optimizer::SGD);
    spec.mutable_slices(0)->clear_initializer();
    engine.Add(spec);
    options.generation = 1;
    options.applied = applied;
    options.push_checked = [this] { Once(&push_checked); };
    options.push_taken = [this] { Once(&push_taken); };
    server = std::make_unique<ParameterServer>(options, engine.operator->());
  }
  static void Once(std::function<void()>* hook) {
    if (*hook) std::exchange(*hook, nullptr)();
  }

  static RequestHeader From(uint32_t rank, uint64_t step, uint32_t incarnation = 1) {
    RequestHeader header;
    header.generation = 1;
    header.rank = rank;
    header.incarnation = incarnation;
    header.number = step;
    return header;
  }
  std::unique_ptr<TestPull> Pull(const RequestHeader& header, uint64_t committed, std::vector<uint64_t> keys = {},
                                 bool last = false, std::function<void()> then = nullptr) {
    auto pull = std::make_unique<TestPull>();
    pull->keys = std::move(keys);
    pull->rows.assign(pull->keys.size(), -77);
    pull->request.header = header;
    pull->request.committed = committed;
    pull->request.last = last;
    pull->request.tables.push_back({1, pull->keys, absl::MakeSpan(pull->rows), {}});
    server->Pull(&pull->request, nullptr, [p = pull.get(), then](absl::Status status) {
      EXPECT_FALSE(p->answer.has_value()) << "answered twice";
      p->answer = status;
      if (then) then();
    });
    return pull;
  }
  PushReply Push(const RequestHeader& header, const RowGradients& rows, double weight = 0) {
    PushReply reply;
    bool done = false;
    server->Push(MakePush(engine->placement(), {rows}, {}, weight, header), [&](PushReply r) {
      reply = std::move(r);
      done = true;
    });
    EXPECT_TRUE(done);
    return reply;
  }
  float Value(uint64_t key) { return engine.Pull(1, {key})[0]; }

  // Called once each: see ParameterServer::Options.
  std::function<void()> push_checked, push_taken;
  TestEngine engine;
  std::unique_ptr<ParameterServer> server;
};

TEST(ParameterServerTest, RequestsOfOtherGenerationsIncarnationsAndRanksAreRefused) {
  Server s(kSync, 2);
  RequestHeader old = Server::From(0, 0);
  old.generation = 0;
  HelloReply hello;
  EXPECT_THAT(s.server->Hello(old, &hello), StatusIs(kAborted, HasSubstr("request of generation 0 of rank 0")));
  EXPECT_THAT(*s.Pull(old, 0)->answer, StatusIs(kAborted, HasSubstr("generation 0")));
  EXPECT_THAT(s.Push(old, {1, {7}, {1}}).status, StatusIs(kAborted, HasSubstr("generation 0")));
  EXPECT_THAT(*s.Pull(Server::From(2, 0), 0)->answer,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 2")));
  ASSERT_OK(s.server->Hello(Server::From(0, 0, 2), &hello));
  EXPECT_THAT(*s.Pull(Server::From(0, 0, 1), 0)->answer, StatusIs(kAborted, HasSubstr("replaced by incarnation 2")));
  EXPECT_THAT(s.Push(Server::From(0, 0, 1), {1, {7}, {1}}).status, StatusIs(kAborted, HasSubstr("incarnation 1")));
  EXPECT_THAT(*s.Pull(Server::From(kFirstToolRank, 0), 0)->answer, StatusIs(kFailed, HasSubstr("tools use Lookup")));
  EXPECT_THAT(s.Push(Server::From(kFirstToolRank, 0), {1, {7}, {1}}).status, StatusIs(kFailed, HasSubstr("bare")));
}

TEST(ParameterServerTest, RanksAreSummedInRankOrderWhateverTheOrderOfArrival) {
  const float gradients[] = {1e8f, -1e8f, 1.0f};  // Only (0 + 1) + 2 keeps the one.
  for (const std::vector<uint32_t>& order : {std::vector<uint32_t>{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}}) {
    Server s(kSync, 3);
    for (const uint32_t rank : order) EXPECT_OK(s.Push(Server::From(rank, 0), {1, {7}, {gradients[rank]}}).status);
    std::vector<std::unique_ptr<TestPull>> pulls;
    for (const uint32_t rank : order) pulls.push_back(s.Pull(Server::From(rank, 1), 1, {7}));
    for (const auto& pull : pulls) EXPECT_THAT(pull->rows, ElementsAre(-1));
  }
}

TEST(ParameterServerTest, AStepsSumIsDividedByAllRanksWeightTogether) {
  Server s(kSync, 2);
  EXPECT_OK(s.Push(Server::From(0, 0), {1, {7}, {6}}, /*weight=*/3).status);
  EXPECT_OK(s.Push(Server::From(1, 0), {1, {}, {}}, /*weight=*/1).status);  // A rank whose samples did not use key 7.
  const auto a = s.Pull(Server::From(0, 1), 1, {7});
  const auto b = s.Pull(Server::From(1, 1), 1, {7});
  EXPECT_THAT(a->rows, ElementsAre(-1.5));
  EXPECT_THAT(b->rows, ElementsAre(-1.5));
}

TEST(ParameterServerTest, ALaterIncarnationsPushTakesTheEarlierOnesPlace) {
  Server s(kSync, 1);
  EXPECT_OK(s.Push(Server::From(0, 0, 1), {1, {7}, {100}}).status);
  const PushReply reply = s.Push(Server::From(0, 0, 2), {1, {7}, {1}});
  EXPECT_THAT(reply.outcomes, ElementsAre(SectionOutcome::kHeld));
  EXPECT_THAT(s.Push(Server::From(0, 0, 2), {1, {7}, {50}}).outcomes, ElementsAre(SectionOutcome::kDuplicate));
  EXPECT_THAT(s.Pull(Server::From(0, 1, 2), 1, {7})->rows, ElementsAre(-1));
}

TEST(ParameterServerTest, APushThatIsFencedAfterItsChecksIsNotTaken) {
  for (const auto mode : {kSync, proto::JobSpec::BOUNDED, proto::JobSpec::ASYNC}) {
    Server s(mode, 1);
    s.push_checked = [&] {
      HelloReply hello;
      EXPECT_OK(s.server->Hello(Server::From(0, 0, 2), &hello));
      EXPECT_OK(s.Push(Server::From(0, 0, 2), {1, {7}, {1}}).status);
    };
    EXPECT_THAT(s.Push(Server::From(0, 0, 1), {1, {7}, {100}}).status,
                StatusIs(kAborted, HasSubstr("replaced by incarnation 2")));
    EXPECT_THAT(s.Pull(Server::From(0, 1, 2), 1, {7})->rows, ElementsAre(-1)) << "mode " << mode;
  }
}

TEST(ParameterServerTest, HelloIsAnsweredAfterTheOlderIncarnationsPushesAreApplied) {
  Server s(proto::JobSpec::ASYNC, 2);
  Mutex mu;
  CondVar changed;
  bool taken = false, greeted = false;
  s.push_taken = [&] {
    MutexLock lock(&mu);
    taken = true;
    changed.SignalAll();
    // Until somebody is greeted too early, or long enough.
    for (int i = 0; i < 20 && !greeted; ++i) changed.WaitWithTimeout(&mu, absl::Milliseconds(10));
  };
  std::thread old([&] { EXPECT_OK(s.Push(Server::From(0, 0, 1), {1, {7}, {1}}).status); });
  {
    MutexLock lock(&mu);
    while (!taken) changed.WaitWithTimeout(&mu, absl::Seconds(1));
  }
  HelloReply hello;
  EXPECT_OK(s.server->Hello(Server::From(1, 0, 9), &hello)) << "another rank does not wait";
  EXPECT_OK(s.server->Hello(Server::From(0, 0, 1), &hello)) << "nor does the same incarnation";
  EXPECT_EQ(s.Value(7), 0);
  EXPECT_OK(s.server->Hello(Server::From(0, 0, 2), &hello));
  EXPECT_EQ(s.Value(7), -1);
  {
    MutexLock lock(&mu);
    greeted = true;
    changed.SignalAll();
  }
  old.join();
}

TEST(ParameterServerTest, MemoryOfPushesIsFreedWithoutTheServersLock) {
  for (const auto mode : {kSync, proto::JobSpec::ASYNC}) {
    Server s(mode, 1);
    int freed = 0;
    const auto push = [&](uint32_t incarnation) {
      PushRequest request = MakePush(s.engine->placement(), {{1, {7}, {1}}}, {}, 0, Server::From(0, 0, incarnation));
      request.storage = std::shared_ptr<const void>(nullptr, [&s, &freed, old = request.storage](const void*) {
        s.server->counts();  // Takes the lock.
        ++freed;
      });
      s.server->Push(std::move(request), [](PushReply reply) { EXPECT_OK(reply.status); });
    };
    push(1);
    push(2);  // Sync: in the first one's place.
    EXPECT_THAT(s.Pull(Server::From(0, 1, 2), 1, {7})->rows, ElementsAre(-1));
    EXPECT_EQ(freed, 2);
  }
}

TEST(ParameterServerTest, AFencedIncarnationsPullIsLetGo) {
  Server s(kSync, 2);
  EXPECT_OK(s.Push(Server::From(0, 0, 1), {1, {7}, {1}}).status);
  const auto pull = s.Pull(Server::From(0, 1, 1), 1, {7});
  EXPECT_FALSE(pull->answer.has_value());
  HelloReply hello;
  ASSERT_OK(s.server->Hello(Server::From(0, 0, 2), &hello));
  ASSERT_TRUE(pull->answer.has_value());
  EXPECT_THAT(*pull->answer, StatusIs(kAborted, "rank 0 incarnation 1 was replaced by a later one"));
  EXPECT_TRUE(hello.holds_push);
  EXPECT_EQ(hello.committed, 1u);
}

TEST(ParameterServerTest, ARefusedPushLeavesNothingBehind) {
  Server s(kSync, 1);
  EXPECT_THAT(s.Push(Server::From(0, 0), {2, {7}, {1}}).status,
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("id 2")));
  EXPECT_OK(s.Push(Server::From(0, 0), {1, {7}, {1}}).status);
  EXPECT_THAT(s.Pull(Server::From(0, 1), 1, {7})->rows, ElementsAre(-1));
}

TEST(ParameterServerTest, RefusedRowsAreCountedOverAllSteps) {
  for (const auto mode : {proto::JobSpec::SYNC, proto::JobSpec::ASYNC}) {
    Server s(mode, 1);
    for (uint64_t step = 0; step < 3; ++step) {
      s.Pull(Server::From(0, step), step);
      const PushReply reply = s.Push(Server::From(0, step), {1, {7, 8}, {NAN, 1}});
      EXPECT_OK(reply.status);
      EXPECT_EQ(reply.refused_rows, mode == kSync ? 0u : 1u);
    }
    s.Pull(Server::From(0, 3), 3);
    EXPECT_EQ(s.server->counts().refused_rows, 3);
    EXPECT_EQ(s.server->counts().updated_rows, 3);
    EXPECT_EQ(s.server->counts().born_rows, 1);
    EXPECT_EQ(s.Value(7), 0);
    EXPECT_EQ(s.Value(8), -3);
  }
}

TEST(ParameterServerTest, StopLetsGoOfAllWhoWaitAndOfAllWhoCome) {
  Server s(kSync, 3);
  std::vector<std::unique_ptr<TestPull>> pulls;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_OK(s.Push(Server::From(rank, 0), {1, {7}, {1}}).status);
    pulls.push_back(s.Pull(Server::From(rank, 1), 1, {7}));
    EXPECT_FALSE(pulls.back()->answer.has_value());
  }
  s.server->Stop(absl::FailedPreconditionError("rank 2 lost its data"));
  s.server->Stop(absl::InternalError("too late"));
  for (const auto& pull : pulls) {
    ASSERT_TRUE(pull->answer.has_value());
    EXPECT_THAT(*pull->answer, StatusIs(kFailed, "rank 2 lost its data"));
    EXPECT_THAT(pull->rows, ElementsAre(-77)) << "not written";
  }
  EXPECT_THAT(s.Push(Server::From(2, 0), {1, {7}, {1}}).status, StatusIs(kFailed, "rank 2 lost its data"));
  EXPECT_THAT(*s.Pull(Server::From(2, 0), 0)->answer, StatusIs(kFailed, "rank 2 lost its data"));
  EXPECT_EQ(s.server->applied(), 0u);
}

TEST(ParameterServerTest, ADyingServerAnswersItsPulls) {
  Server s(kSync, 2);
  EXPECT_OK(s.Push(Server::From(0, 0), {1, {7}, {1}}).status);
  const auto pull = s.Pull(Server::From(0, 1), 1, {7});
  s.server.reset();
  ASSERT_TRUE(pull->answer.has_value());
  EXPECT_THAT(*pull->answer, StatusIs(kCancelled, HasSubstr("shutting down")));
}

TEST(ParameterServerTest, ACancelledPullSaysWhatItWaitedFor) {
  Server s(kSync, 2);
  EXPECT_OK(s.Push(Server::From(0, 0), {1, {7}, {1}}).status);
  const auto pull = s.Pull(Server::From(0, 1), 1, {7});
  s.server->CancelPull(&pull->request);
  ASSERT_TRUE(pull->answer.has_value());
  EXPECT_THAT(*pull->answer, StatusIs(kCancelled, "given up while waiting for rank 1 (push of step 0)"));
  s.server->CancelPull(&pull->request);  // Answered: left alone.
  // The commit that came with it counts all the same.
  EXPECT_OK(s.Push(Server::From(1, 0), {1, {7}, {1}}).status);
  EXPECT_THAT(s.Pull(Server::From(1, 1), 1, {7})->rows, ElementsAre(-2));
}

TEST(ParameterServerTest, AWaitingPullIsToldForWhom) {
  Server s(kSync, 2);
  EXPECT_OK(s.Push(Server::From(0, 0), {1, {7}, {1}}).status);
  PullRequest request;
  request.header = Server::From(0, 1);
  request.committed = 1;
  Mutex mu;
  CondVar changed;
  std::string told;
  s.server->Pull(
      &request,
      [&](const std::string& what) {
        MutexLock lock(&mu);
        told = what;
        changed.SignalAll();
      },
      [](absl::Status) {});
  {
    MutexLock lock(&mu);
    while (told.empty()) changed.WaitWithTimeout(&mu, absl::Seconds(1));
    EXPECT_EQ(told, "still waiting for rank 1 (push of step 0)");
  }
  s.server->CancelPull(&request);
}

TEST(ParameterServerTest, APullIsToldWithoutTheServersLockAndNeverAfterItsAnswer) {
  Server s(kSync, 2);
  EXPECT_OK(s.Push(Server::From(0, 0), {1, {7}, {1}}).status);
  PullRequest request;
  request.header = Server::From(0, 1);
  request.committed = 1;
  Mutex mu;
  CondVar changed;
  bool telling = false, answered = false;
  s.server->Pull(
      &request,
      [&](const std::string&) {
        s.server->applied();  // Takes the lock.
        MutexLock lock(&mu);
        EXPECT_FALSE(answered) << "told after the answer";
        telling = true;
        changed.SignalAll();
        for (int i = 0; i < 10 && !answered; ++i) changed.WaitWithTimeout(&mu, absl::Milliseconds(10));
        EXPECT_FALSE(answered) << "answered while being told";
      },
      [&](absl::Status) {
        MutexLock lock(&mu);
        answered = true;
        changed.SignalAll();
      });
  {
    MutexLock lock(&mu);
    while (!telling) changed.WaitWithTimeout(&mu, absl::Seconds(1));
  }
  s.server->CancelPull(&request);
  EXPECT_TRUE(answered);
}

TEST(ParameterServerTest, NoStepIsAppliedWhileSomebodyReadsBetweenPushes) {
  Server s(kSync, 1);
  EXPECT_OK(s.Push(Server::From(0, 0), {1, {7}, {1}}).status);
  std::unique_ptr<TestPull> next;
  EXPECT_TRUE(s.server->ReadBetweenPushes([&] {
    next = s.Pull(Server::From(0, 1), 1, {7});  // Commits step 0: it could be applied now.
    EXPECT_EQ(s.server->applied(), 0u);
    EXPECT_EQ(s.Value(7), 0);
  }));
  EXPECT_EQ(s.server->applied(), 1u);  // It was, right afterwards.
  ASSERT_TRUE(next->answer.has_value());
  EXPECT_THAT(next->rows, ElementsAre(-1));
}

TEST(ParameterServerTest, WhatIsReadWhilePushesAreAppliedIsOfNoMoment) {
  Server s(proto::JobSpec::ASYNC, 1);
  bool read = false;
  s.push_taken = [&] { EXPECT_FALSE(s.server->ReadBetweenPushes([&] { read = true; })); };
  EXPECT_OK(s.Push(Server::From(0, 0), {1, {7}, {1}}).status);
  EXPECT_FALSE(read);
  EXPECT_FALSE(s.server->ReadBetweenPushes([&] { EXPECT_OK(s.Push(Server::From(0, 1), {1, {7}, {1}}).status); }));
  EXPECT_TRUE(s.server->ReadBetweenPushes([&] { read = true; }));
  EXPECT_TRUE(read);
}

TEST(ParameterServerTest, LookupsReadWhateverIsThereAndMoveNothing) {
  Server s(kSync, 2);
  EXPECT_OK(s.Push(Server::From(0, 0), {1, {7}, {1}}).status);
  std::vector<uint64_t> keys = {7};
  std::vector<float> rows(1);
  PullRequest request;
  request.header = Server::From(kFirstToolRank, 0);
  request.committed = 99;
  request.tables.push_back({1, keys, absl::MakeSpan(rows), {}});
  absl::Status status = absl::UnknownError("not called");
  s.server->Lookup(&request, [&](absl::Status result) { status = result; });
  EXPECT_OK(status);
  EXPECT_THAT(rows, ElementsAre(0)) << "a held push is not applied";
  EXPECT_EQ(s.server->applied(), 0u);
}

TEST(ParameterServerTest, APullNeverSeesItsOwnStepAppliedHoweverEarlyItsRankGoesOn) {
  // Both pulls of step 1 become readable at once. The first one answered sends all that step 1 needs before the second
  // one is read.
  Server s(kSync, 2);
  std::vector<std::unique_ptr<TestPull>> later;
  const auto race = [&] {
    for (uint32_t rank = 0; rank < 2; ++rank) EXPECT_OK(s.Push(Server::From(rank, 1), {1, {7}, {10}}).status);
    for (uint32_t rank = 0; rank < 2; ++rank) later.push_back(s.Pull(Server::From(rank, 2), 2, {7}));
  };
  for (uint32_t rank = 0; rank < 2; ++rank) EXPECT_OK(s.Push(Server::From(rank, 0), {1, {7}, {1}}).status);
  const auto first = s.Pull(Server::From(0, 1), 1, {7}, false, race);
  const auto second = s.Pull(Server::From(1, 1), 1, {7});
  ASSERT_TRUE(first->answer.has_value() && second->answer.has_value());
  EXPECT_THAT(first->rows, ElementsAre(-2));
  EXPECT_THAT(second->rows, ElementsAre(-2)) << "saw pushes of its own step";
  ASSERT_EQ(later.size(), 2u);
  for (const auto& pull : later) EXPECT_THAT(pull->rows, ElementsAre(-22));
  EXPECT_THAT(*s.Pull(Server::From(0, 1), 1, {7})->answer, StatusIs(kAborted, HasSubstr("go on with step 2")));
}

// Ranks of a sync job in random order: they pull, push, repeat, crash, come back as P6 says, and end after different
// numbers of steps; messages of dead incarnations arrive late. Key r counts the pushes of rank r, key 100 + r is moved
// by the incarnation that pushed.
class SyncExplorer {
 public:
  explicit SyncExplorer(uint64_t seed) : random_(seed), server_(kSync, 1 + seed % 4), ranks_(1 + seed % 4) {
    for (Rank& rank : ranks_) rank.steps = random_() % 8;
  }

  void Run() {
    uint64_t steps = 0;
    for (const Rank& rank : ranks_) steps = std::max(steps, rank.steps);
    for (int crashes = 0; !::testing::Test::HasFailure();) {
      std::vector<uint32_t> able;
      for (uint32_t r = 0; r < ranks_.size(); ++r) {
        if (ranks_[r].phase == kPull || ranks_[r].phase == kPush) able.push_back(r);
      }
      if (able.empty()) break;
      const uint32_t r = random_() % ranks_.size();
      if (crashes < 6 && ranks_[r].phase != kDone && random_() % 8 == 0) {
        ++crashes;
        Restart(r);
      } else if (random_() % 6 == 0) {
        Stale(r);
      } else {
        Act(able[random_() % able.size()]);
      }
    }
    for (const Rank& rank : ranks_) ASSERT_EQ(rank.phase, kDone) << "stuck: somebody waits for what never comes";
    ASSERT_EQ(server_.server->applied(), steps);
    for (uint32_t r = 0; r < ranks_.size(); ++r) CheckSeen(r, steps, {server_.Value(r), server_.Value(100 + r)});
  }

 private:
  enum Phase { kPull, kWaiting, kPush, kDone };
  struct Rank {
    uint64_t steps = 0;  // it has work for
    uint64_t step = 0;
    uint32_t incarnation = 1;
    Phase phase = kPull;
    std::map<uint64_t, uint32_t> pushed;  // step -> incarnation whose push counts
    std::unique_ptr<TestPull> pull;
  };

  // What a pull of `step` must see of rank r.
  void CheckSeen(uint32_t r, uint64_t step, const std::vector<float>& seen) {
    float pushes = 0, incarnations = 0;
    for (const auto& [pushed_step, incarnation] : ranks_[r].pushed) {
      if (pushed_step >= step) continue;
      pushes += 1;
      incarnations += incarnation;
    }
    EXPECT_EQ(pushes, std::min(step, ranks_[r].steps)) << "applied without rank " << r;
    EXPECT_EQ(seen, (std::vector<float>{-pushes, -incarnations})) << "step " << step << " of rank " << r;
  }
  void Act(uint32_t r) {
    Rank& rank = ranks_[r];
    if (rank.phase == kPush) {
      const RowGradients rows{1, {r, 100 + r}, {1, float(rank.incarnation)}};
      for (uint64_t times = 1 + random_() % 2, i = 0; i < times; ++i) {
        const PushReply reply = server_.Push(Server::From(r, rank.step, rank.incarnation), rows);
        ASSERT_OK(reply.status);
        ASSERT_EQ(reply.outcomes[0], i == 0 ? SectionOutcome::kHeld : SectionOutcome::kDuplicate);
      }
      rank.pushed[rank.step] = rank.incarnation;
      ++rank.step;
      rank.phase = kPull;
      return;
    }
    rank.phase = kWaiting;
    std::vector<uint64_t> keys;
    for (uint32_t other = 0; other < ranks_.size(); ++other) keys.insert(keys.end(), {other, 100 + other});
    const bool last = rank.step >= rank.steps;
    const uint32_t incarnation = rank.incarnation;
    auto pull = std::make_unique<TestPull>();
    TestPull* const p = pull.get();
    p->keys = last ? std::vector<uint64_t>() : keys;
    p->rows.resize(p->keys.size());
    p->request.header = Server::From(r, rank.step, incarnation);
    p->request.committed = rank.step;
    p->request.last = last;
    p->request.tables.push_back({1, p->keys, absl::MakeSpan(p->rows), {}});
    rank.pull = std::move(pull);
    server_.server->Pull(&p->request, nullptr, [this, r, p, last, incarnation](absl::Status status) {
      p->answer = status;
      Rank& rank = ranks_[r];
      if (incarnation != rank.incarnation) {
        ASSERT_THAT(status, StatusIs(kAborted, HasSubstr("replaced")));
        return;
      }
      ASSERT_OK(status);
      rank.phase = last ? kDone : kPush;
      for (uint32_t other = 0; other < ranks_.size() && !last; ++other) {
        CheckSeen(other, p->request.header.number, {p->rows[2 * other], p->rows[2 * other + 1]});
      }
    });
  }
  void Restart(uint32_t r) {
    Rank& rank = ranks_[r];
    const bool waited = rank.phase == kWaiting;
    ++rank.incarnation;
    HelloReply hello;
    ASSERT_OK(server_.server->Hello(Server::From(r, 0, rank.incarnation), &hello));
    ASSERT_TRUE(!waited || rank.pull->answer.has_value()) << "the dead incarnation still waits";
    // Committed: it counts, go on. Not committed: redo the step; a push that is held will be replaced.
    rank.step = std::min(rank.steps, std::max(hello.applied, hello.committed));
    rank.phase = kPull;
  }
  void Stale(uint32_t r) {
    const Rank& rank = ranks_[r];
    if (rank.incarnation == 1) return;
    const RequestHeader old = Server::From(r, rank.step, rank.incarnation - 1);
    ASSERT_THAT(server_.Push(old, {1, {r}, {1000}}).status, StatusIs(kAborted, HasSubstr("replaced")));
    ASSERT_THAT(*server_.Pull(old, rank.step + 1)->answer, StatusIs(kAborted, HasSubstr("replaced")));
  }

  std::mt19937_64 random_;
  Server server_;
  std::vector<Rank> ranks_;
};

TEST(ParameterServerTest, SyncPullsSeeExactlyAllEarlierPushesInAnyInterleaving) {
  for (uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    SyncExplorer(seed).Run();
  }
}

TEST(ParameterServerTest, BoundedPullsWaitForWhatTheyMustAndForNothingElse) {
  for (uint64_t seed = 0; seed < 150 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const uint32_t ranks = 1 + seed % 4;
    const uint64_t staleness = random() % 3;
    Server s(proto::JobSpec::BOUNDED, ranks, staleness);
    std::vector<uint64_t> pushed(ranks, 0), steps(ranks);
    std::vector<bool> finished(ranks, false);
    std::vector<std::unique_ptr<TestPull>> pulls(ranks);
    for (uint64_t& n : steps) n = random() % 8;
    const auto may_read = [&](uint64_t step) {
      for (uint32_t r = 0; r < ranks; ++r) {
        if (!finished[r] && pushed[r] + staleness < step) return false;
      }
      return true;
    };
    while (true) {
      std::vector<uint32_t> able;
      for (uint32_t r = 0; r < ranks; ++r) {
        if (!finished[r] && (pulls[r] == nullptr || pulls[r]->answer.has_value())) able.push_back(r);
      }
      if (able.empty()) break;
      const uint32_t r = able[random() % able.size()];
      if (pulls[r] == nullptr) {
        std::vector<uint64_t> keys(ranks);
        for (uint32_t other = 0; other < ranks; ++other) keys[other] = other;
        const bool last = pushed[r] == steps[r];
        if (last) finished[r] = true;
        pulls[r] = s.Pull(Server::From(r, pushed[r]), 0, keys, last);
      } else {
        ASSERT_OK(*pulls[r]->answer);
        for (uint32_t other = 0; other < ranks; ++other) {
          const uint64_t seen = -pulls[r]->rows[other];
          EXPECT_GE(seen + staleness, std::min(pushed[r], steps[other]));
        }
        EXPECT_THAT(s.Push(Server::From(r, pushed[r]), {1, {r}, {1}}).outcomes, ElementsAre(SectionOutcome::kApplied));
        EXPECT_THAT(s.Push(Server::From(r, pushed[r]), {1, {r}, {1}}).outcomes,
                    ElementsAre(SectionOutcome::kDuplicate));
        ++pushed[r];
        pulls[r].reset();
      }
      for (uint32_t other = 0; other < ranks; ++other) {
        if (pulls[other] == nullptr) continue;
        ASSERT_TRUE(pulls[other]->answer.has_value() || !may_read(pulls[other]->request.header.number))
            << "rank " << other << " waits for nothing";
      }
    }
    for (uint32_t r = 0; r < ranks; ++r) {
      ASSERT_TRUE(finished[r] && pulls[r]->answer.has_value()) << "stuck";
      EXPECT_EQ(s.Value(r), -float(steps[r]));
    }
  }
}

}  // namespace
}  // namespace rowan
