// A whole job whose shards are spread over several servers: as one server, to the bit.
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/hash.h"
#include "common/placement.h"
#include "common/shard_map.h"
#include "common/status_macros.h"
#include "gtest/gtest.h"
#include "tests/local_job.h"
#include "tests/server/table/engine_fixture.h"
#include "tests/status_matchers.h"
#include "worker/client.h"

namespace rowan {
namespace {

using ::rowan::testing::DenseOf;
using ::rowan::testing::JobOf;
using ::rowan::testing::LocalJob;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TableOf;
using ::testing::HasSubstr;

constexpr auto kSync = proto::JobSpec::SYNC;
constexpr auto kBounded = proto::JobSpec::BOUNDED;
constexpr auto kAsync = proto::JobSpec::ASYNC;
constexpr auto kSgd = proto::Optimizer::SGD;
constexpr int kServerCounts[] = {1, 2, 3, 4, 5, 6, 7};

LocalJob Servers(const proto::JobSpec& spec, int servers, int threads = 2) {
  return LocalJob(spec, threads, /*applied=*/0, servers);
}

// A table of width 1 whose values start at 0 and move by exactly what is pushed.
proto::TableSpec Counter(const std::string& name = "counter") {
  proto::TableSpec spec = TableOf(name, 1, kSgd);
  spec.mutable_slices(0)->clear_initializer();
  return spec;
}

// x with KeyHash(x) == hash: each step of Mix64 undone.
uint64_t KeyOfHash(uint64_t hash) {
  const auto inverse = [](uint64_t odd) {
    uint64_t x = odd;  // Newton: each round doubles the right bits, 3 at first.
    for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
    return x;
  };
  const auto unshift = [](uint64_t x, int bits) {
    uint64_t result = x;
    for (int known = bits; known < 64; known += bits) result = x ^ (result >> bits);
    return result;
  };
  uint64_t x = unshift(hash, 31);
  x *= inverse(0x94d049bb133111ebu);
  x = unshift(x, 27);
  x *= inverse(0xbf58476d1ce4e5b9u);
  x = unshift(x, 30);
  return x - kGoldenGamma;
}

// The keys whose hashes are the lowest and the highest of each shard.
std::vector<uint64_t> EdgeKeys(uint32_t num_shards) {
  std::vector<uint64_t> keys;
  const uint64_t size = num_shards == 1 ? 0 : ~uint64_t{0} / num_shards + 1;  // 2^64 / num_shards
  for (uint64_t shard = 0; shard < num_shards; ++shard) {
    for (const uint64_t hash : {shard * size, (shard + 1) * size - 1}) {
      keys.push_back(KeyOfHash(hash));
      EXPECT_EQ(KeyHash(keys.back()), hash);
      EXPECT_EQ(Placement(num_shards).ShardOfKey(keys.back()), shard);
    }
  }
  return keys;
}

// Training that feeds back: what is pushed depends on what was pulled. Each table's keys repeat, ranks have few or no
// rows in some steps, and one rank ends early.
absl::Status Train(Client* client, uint64_t steps) {
  ROWAN_ASSIGN_OR_RETURN(const Table ads, client->OpenTable(TableOf("ads", 5, proto::Optimizer::ADAGRAD, 0.1f)));
  ROWAN_ASSIGN_OR_RETURN(const Table users, client->OpenTable(TableOf("users", 2, proto::Optimizer::ADAM, 0.1f)));
  ROWAN_ASSIGN_OR_RETURN(const Dense tower, client->OpenDense(DenseOf("tower", 28000, proto::Optimizer::FTRL, 0.1f)));
  const uint64_t own_steps = steps - client->rank() * 3;
  for (uint64_t t = 0; t < own_steps; ++t) {
    std::mt19937_64 random(t * 100 + client->rank());
    ROWAN_ASSIGN_OR_RETURN(Step step, client->BeginStep());
    std::vector<uint64_t> keys(t % 4 == 3 ? 0 : t % 4 == 2 ? 1 : random() % 200), others(random() % 50);
    for (uint64_t& key : keys) key = random() % 150;
    for (uint64_t& key : others) key = ~uint64_t{0} - random() % 40;
    std::vector<float> ads_rows(keys.size() * 5), users_rows(others.size() * 2), weights(28000);
    ROWAN_RETURN_IF_ERROR(
        step.Pull({{ads, keys, absl::MakeSpan(ads_rows)}, {users, others, absl::MakeSpan(users_rows)}},
                  {{tower, absl::MakeSpan(weights)}})
            .Wait());
    for (auto* values : {&ads_rows, &users_rows, &weights}) {
      for (float& v : *values) v = std::sin(1000 * v) + static_cast<float>(random() % 1000) * 1e-3f;
    }
    if (t == 4) weights[25000] = std::numeric_limits<float>::infinity();
    if (keys.size() > 3) ads_rows[7] = std::numeric_limits<float>::quiet_NaN();
    ROWAN_RETURN_IF_ERROR(
        step.Push({{ads, keys, ads_rows}, {users, others, users_rows}}, {{tower, weights}}, keys.size()).Wait());
  }
  return client->Finish();
}

struct Trained {
  std::string digest;
  ApplyCounts counts;
};

Trained TrainOn(int servers, uint32_t ranks, uint32_t shards = 32) {
  LocalJob job = Servers(JobOf(kSync, ranks, shards), servers);
  EXPECT_OK(job.RunRanks([](Client* client) { return Train(client, 13); }));
  for (int i = 0; i < servers; ++i) EXPECT_EQ(job.server(i)->applied(), 13u) << "server " << i;
  return {job.Digest(), job.counts()};
}

TEST(SeveralServersTest, SyncResultsAreThoseOfOneServerToTheBit) {
  for (const uint32_t ranks : {1u, 2u}) {
    const Trained one = TrainOn(1, ranks);
    EXPECT_GT(one.counts.refused_rows, 0);
    EXPECT_EQ(one.counts.refused_dense, 1);
    for (const int servers : {2, 3, 5, 7}) {
      const Trained many = TrainOn(servers, ranks);
      EXPECT_EQ(many.digest, one.digest) << servers << " servers, " << ranks << " ranks";
      EXPECT_EQ(many.counts.updated_rows, one.counts.updated_rows);
      EXPECT_EQ(many.counts.born_rows, one.counts.born_rows);
      EXPECT_EQ(many.counts.refused_rows, one.counts.refused_rows);
      EXPECT_EQ(many.counts.refused_dense, one.counts.refused_dense);
    }
    EXPECT_EQ(TrainOn(7, ranks, /*shards=*/4).digest, one.digest) << "servers without shards";
  }
}

TEST(SeveralServersTest, NoKeyIsLostAtTheEdgesOfAnyShard) {
  for (const uint32_t shards : {1u, 64u, 256u}) {
    const std::vector<uint64_t> keys = EdgeKeys(shards);
    for (const int servers : kServerCounts) {
      LocalJob job = Servers(JobOf(kSync, 1, shards), servers);
      const auto client = job.Connect();
      const Table table = *client->OpenTable(Counter());
      std::vector<float> gradients(keys.size()), rows(keys.size(), NAN);
      for (size_t i = 0; i < keys.size(); ++i) gradients[i] = static_cast<float>(i + 1);
      Step step = *client->BeginStep();
      ASSERT_OK(step.Push({{table, keys, gradients}}, {}, 0).Wait());
      Step next = *client->BeginStep();
      std::vector<Outcome> outcomes(keys.size(), Outcome::kSpilled);
      ASSERT_OK(next.Pull({{table, keys, absl::MakeSpan(rows), absl::MakeSpan(outcomes)}}, {}).Wait());
      ASSERT_OK(next.Push({}, {}, 0).Wait());
      ASSERT_OK(client->Finish());
      for (size_t i = 0; i < keys.size(); ++i) {
        EXPECT_EQ(rows[i], -gradients[i]) << servers << " servers, key " << keys[i];
        EXPECT_EQ(outcomes[i], Outcome::kFound);
      }
      EXPECT_EQ(job.counts().born_rows, static_cast<int64_t>(keys.size()));
    }
  }
}

TEST(SeveralServersTest, RowsOfSeveralTablesComeToTheirPlaces) {
  LocalJob job = Servers(JobOf(kAsync, 1), 3);
  const auto tool = job.ConnectTool();
  LocalJob alone = Servers(JobOf(kAsync, 1), 1);
  const auto model = alone.ConnectTool();
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<RowsPull> pulls, expected;
    std::vector<std::vector<uint64_t>> keys(5);
    std::vector<std::vector<float>> rows(5), model_rows(5);
    std::vector<std::vector<Outcome>> outcomes(5), model_outcomes(5);
    for (int t = 0; t < 5; ++t) {
      const int width = t + 1;
      const proto::TableSpec spec = TableOf("t" + std::to_string(t), width, kSgd);
      keys[t].resize(random() % 100);
      for (uint64_t& key : keys[t]) key = random() % 60;
      rows[t].assign(keys[t].size() * width, NAN);
      model_rows[t] = rows[t];
      if (t % 2 == 0) outcomes[t].resize(keys[t].size());
      model_outcomes[t] = outcomes[t];
      pulls.push_back({*tool->OpenTable(spec), keys[t], absl::MakeSpan(rows[t]), absl::MakeSpan(outcomes[t])});
      expected.push_back(
          {*model->OpenTable(spec), keys[t], absl::MakeSpan(model_rows[t]), absl::MakeSpan(model_outcomes[t])});
      const std::vector<float> gradients(keys[t].size() / 2 * width, 0.5f);
      const absl::Span<const uint64_t> half = absl::MakeConstSpan(keys[t]).first(keys[t].size() / 2);
      ASSERT_OK(tool->PushBare({{pulls[t].table, half, gradients}}));
      ASSERT_OK(model->PushBare({{expected[t].table, half, gradients}}));
    }
    ASSERT_OK(tool->Lookup(pulls));
    ASSERT_OK(model->Lookup(expected));
    EXPECT_EQ(rows, model_rows);
    EXPECT_EQ(outcomes, model_outcomes);
  }
  EXPECT_EQ(job.Digest(), alone.Digest());
}

// Counts what a server is asked, and answers when the test says so.
class Watched final : public DataPlane {
 public:
  explicit Watched(DataPlane* server) : server_(server) {}

  absl::Status Hello(const RequestHeader& h, HelloReply* reply) override { return server_->Hello(h, reply); }
  void Pull(const PullRequest* r, PullWaiting w, PullDone d) override {
    ++pulls;
    pulled_tables += r->tables.size();
    committed = r->committed;
    server_->Pull(r, std::move(w), std::move(d));
  }
  void CancelPull(const PullRequest* r) override { server_->CancelPull(r); }
  void Lookup(const PullRequest* r, PullDone d) override {
    ++lookups;
    server_->Lookup(r, std::move(d));
  }
  void Push(PushRequest request, PushDone done) override {
    ++pushes;
    pushed_sections += request.sections.size();
    weight = request.weight;
    if (!refuse.ok()) return done({refuse, {}, 0});
    if (!hold) return server_->Push(std::move(request), std::move(done));
    held_done = std::move(done);
    held = std::move(request);
  }

  int pulls = 0, lookups = 0, pushes = 0;
  size_t pulled_tables = 0, pushed_sections = 0;
  uint64_t committed = 0;
  double weight = -1;
  absl::Status refuse;
  bool hold = false;
  PushRequest held;
  PushDone held_done;

  void Release() {
    hold = false;
    server_->Push(std::move(held), std::move(held_done));
  }

 private:
  DataPlane* const server_;
};

// A job of several watched servers.
struct WatchedJob {
  WatchedJob(const proto::JobSpec& spec, int servers) : job(spec, /*threads=*/2, /*applied=*/0, servers) {
    for (int i = 0; i < servers; ++i) watched.push_back(std::make_unique<Watched>(job.server(i)));
  }
  std::unique_ptr<Client> Connect(bool takes_part = true) {
    Client::Options options = job.Options();
    options.takes_part = takes_part;
    options.servers.clear();
    for (const auto& server : watched) options.servers.push_back(server.get());
    return LocalJob::Connect(options);
  }
  // A key that the server holds.
  uint64_t KeyOn(int server) {
    uint64_t key = 0;
    while (!job.engine(server)->Owns(job.engine(server)->placement().ShardOfKey(key))) ++key;
    return key;
  }

  LocalJob job;
  std::vector<std::unique_ptr<Watched>> watched;
};

TEST(SeveralServersTest, EachStepAsksAndPushesToEachServerOnceWhateverItsKeys) {
  WatchedJob job(JobOf(kSync, 1), 3);
  const auto client = job.Connect();
  const Table a = *client->OpenTable(Counter("a")), b = *client->OpenTable(Counter("b"));
  const std::vector<uint64_t> keys = {job.KeyOn(0), job.KeyOn(2)};  // None on server 1.
  const std::vector<float> ones = {1, 1};
  for (int t = 0; t < 4; ++t) {
    std::vector<float> rows(2, NAN), more(2, NAN);
    Step step = *client->BeginStep();
    ASSERT_OK(step.Pull({{a, keys, absl::MakeSpan(rows)}, {b, keys, absl::MakeSpan(more)}}, {}).Wait());
    EXPECT_EQ(rows, std::vector<float>(2, -t));
    EXPECT_EQ(more, std::vector<float>(2, -t));
    ASSERT_OK(step.Push({{a, keys, ones}, {b, keys, ones}}, {}, /*weight=*/1).Wait());
    for (const auto& server : job.watched) {
      EXPECT_EQ(server->pulls, t + 1);
      EXPECT_EQ(server->pushes, t + 1);
      EXPECT_EQ(server->weight, 1);
    }
  }
  EXPECT_EQ(job.watched[0]->pulled_tables, 8u) << "all tables in one request";
  EXPECT_EQ(job.watched[1]->pulled_tables, 0u);
  EXPECT_EQ(job.watched[1]->pushed_sections, 0u);
  EXPECT_EQ(job.watched[2]->pushed_sections, 4u);
  ASSERT_OK(client->Finish());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(job.job.server(i)->applied(), 4u);
}

TEST(SeveralServersTest, OutsideStepsOnlyServersConcernedAreAsked) {
  WatchedJob job(JobOf(kAsync, 1), 3);
  const auto tool = job.Connect(/*takes_part=*/false);
  const Table table = *tool->OpenTable(Counter());
  const std::vector<uint64_t> keys = {job.KeyOn(1)};
  std::vector<float> row(1);
  ASSERT_OK(tool->PushBare({{table, keys, std::vector<float>{2}}}));
  ASSERT_OK(tool->Lookup({{table, keys, absl::MakeSpan(row)}}));
  EXPECT_EQ(row[0], -2);
  ASSERT_OK(tool->Lookup({}));
  ASSERT_OK(tool->PushBare({}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(job.watched[i]->lookups, i == 1);
    EXPECT_EQ(job.watched[i]->pushes, i == 1);
  }
}

TEST(SeveralServersTest, AStepIsCommittedOnlyWhenEveryServerHasItsPush) {
  WatchedJob job(JobOf(kSync, 1), 3);
  const auto client = job.Connect();
  const Table table = *client->OpenTable(Counter());
  const std::vector<uint64_t> keys = {job.KeyOn(0), job.KeyOn(1), job.KeyOn(2)};
  const std::vector<float> ones = {1, 1, 1};
  Step step = *client->BeginStep();
  job.watched[2]->hold = true;
  Pending pushed = step.Push({{table, keys, ones}}, {}, 0);
  // A reader's pull of the step goes on saying that nothing is committed, although two servers have the push.
  ASSERT_OK(step.Pull({}, {}).Wait());
  for (const auto& server : job.watched) EXPECT_EQ(server->committed, 0u);
  job.watched[2]->Release();
  ASSERT_OK(pushed.Wait());
  ASSERT_OK(client->Finish());
  for (const auto& server : job.watched) EXPECT_EQ(server->committed, 1u);
}

TEST(SeveralServersTest, APushThatOneServerRefusedMayBeRepeated) {
  for (const auto mode : {kSync, kBounded, kAsync}) {
    WatchedJob job(JobOf(mode, 1), 3);
    const auto client = job.Connect();
    const Table table = *client->OpenTable(Counter());
    const std::vector<uint64_t> keys = {job.KeyOn(0), job.KeyOn(1), job.KeyOn(2)};
    const std::vector<float> ones = {1, 1, 1};
    Step step = *client->BeginStep();
    job.watched[1]->refuse = absl::UnavailableError("out of reach");
    EXPECT_THAT(step.Push({{table, keys, ones}}, {}, 0).Wait(),
                StatusIs(absl::StatusCode::kUnavailable, "server 1: out of reach"));
    EXPECT_EQ(job.watched[2]->pushes, 1) << "the others have it all the same";
    ASSERT_OK(step.Pull({}, {}).Wait());
    EXPECT_EQ(job.watched[0]->committed, 0u);
    job.watched[1]->refuse = absl::OkStatus();
    ASSERT_OK(step.Push({{table, keys, ones}}, {}, 0).Wait());
    ASSERT_OK(client->Finish());
    std::vector<float> rows(3);
    ASSERT_OK(client->Lookup({{table, keys, absl::MakeSpan(rows)}}));
    EXPECT_EQ(rows, std::vector<float>(3, -1)) << "applied once on each";
  }
}

TEST(SeveralServersTest, OneServersErrorLetsGoOfTheOthersAndIsTheResult) {
  for (int stopped = 0; stopped < 3; ++stopped) {
    LocalJob job = Servers(JobOf(kSync, 2), 3);
    const auto waits = job.Connect();
    const auto absent = job.Connect();
    const Table table = *waits->OpenTable(Counter());
    ASSERT_OK((*waits->BeginStep()).Push({}, {}, 0).Wait());
    Step next = *waits->BeginStep();
    {
      std::vector<uint64_t> keys(300);
      for (uint64_t i = 0; i < keys.size(); ++i) keys[i] = i;
      std::vector<float> rows(keys.size(), 5);  // Freed once the pull has ended: asan watches.
      Pending pull = next.Pull({{table, keys, absl::MakeSpan(rows)}}, {});
      job.server(stopped)->Stop(absl::UnavailableError("the disk is full"));
      EXPECT_THAT(pull.Wait(),
                  StatusIs(absl::StatusCode::kUnavailable, "server " + std::to_string(stopped) + ": the disk is full"));
      EXPECT_EQ(rows, std::vector<float>(keys.size(), 5));
    }
    // A server that is down from the start: the others are not left with a pull that nobody waits for.
    EXPECT_THAT(next.Pull({}, {}).Wait(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("the disk is full")));
    EXPECT_THAT(absent->Finish(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("the disk is full")));
  }
}

TEST(SeveralServersTest, AServerThatStopsMidwayEndsEveryRank) {
  for (const int servers : {2, 5}) {
    LocalJob job = Servers(JobOf(kSync, 3), servers);
    const absl::Status status = job.RunRanks([&](Client* client) -> absl::Status {
      ROWAN_ASSIGN_OR_RETURN(const Table table, client->OpenTable(Counter()));
      std::vector<uint64_t> keys(100);
      for (uint64_t i = 0; i < keys.size(); ++i) keys[i] = i;
      const std::vector<float> ones(keys.size(), 1);
      while (true) {
        ROWAN_ASSIGN_OR_RETURN(Step step, client->BeginStep());
        if (client->rank() == 1 && step.number() == 5) {
          job.server(servers - 1)->Stop(absl::UnavailableError("gone"));
        }
        std::vector<float> rows(keys.size());
        ROWAN_RETURN_IF_ERROR(step.Pull({{table, keys, absl::MakeSpan(rows)}}, {}).Wait());
        ROWAN_RETURN_IF_ERROR(step.Push({{table, keys, ones}}, {}, 1).Wait());
      }
    });
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("gone")));
  }
}

TEST(SeveralServersTest, ADeadlineNamesWhomTheCallWaitedFor) {
  LocalJob job = Servers(JobOf(kSync, 2), 3);
  Client::Options options = job.Options();
  options.deadline = absl::Milliseconds(20);
  const auto hasty = LocalJob::Connect(options);
  const auto slow = job.Connect();
  const Table table = *hasty->OpenTable(Counter());
  ASSERT_OK((*hasty->BeginStep()).Push({}, {}, 0).Wait());
  Step next = *hasty->BeginStep();
  EXPECT_THAT(next.Pull({}, {}).Wait(),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       "no answer within 20ms: server 0: given up while waiting for rank 1 (push of step 0)"));
  ASSERT_OK((*slow->BeginStep()).Push({}, {}, 0).Wait());
  ASSERT_OK(slow->Finish());
  ASSERT_OK(next.Pull({}, {}).Wait());
}

TEST(SeveralServersTest, FourThreadsOfBarePushesMoveByExactlyTheirNumber) {
  for (const bool one_client : {true, false}) {
    LocalJob job = Servers(JobOf(kAsync, 1), 5);
    const auto shared = job.ConnectTool();
    const Table table = *shared->OpenTable(Counter());
    std::vector<uint64_t> keys(40);
    for (uint64_t i = 0; i < keys.size(); ++i) keys[i] = i;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const auto own = one_client ? nullptr : job.ConnectTool();
        const std::vector<float> ones(keys.size(), 1);
        for (size_t push = 0; push < 300; ++push) {
          // Sometimes one server only: numbers that a server never sees.
          const size_t n = push % 3 == 0 ? 1 : keys.size();
          ASSERT_OK((one_client ? shared : own)
                        ->PushBare({{table, absl::MakeConstSpan(keys).first(n), absl::MakeConstSpan(ones).first(n)}}));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<float> rows(keys.size());
    ASSERT_OK(shared->Lookup({{table, keys, absl::MakeSpan(rows)}}));
    std::vector<float> expected(keys.size(), -800.0f);
    expected[0] = -1200.0f;
    EXPECT_EQ(rows, expected);
  }
}

TEST(SeveralServersTest, ADenseGradientThatCannotBeAppliedSomewhereIsRefusedEverywhere) {
  constexpr int64_t kBlocks = 20;
  const struct {
    float value;
    bool refused;
  } cases[] = {{NAN, true}, {-INFINITY, true}, {-1.3e30f, true}, {1.2e30f, false}, {-0.0f, false}};
  for (const auto& [value, refused] : cases) {
    for (const int servers : {2, 7}) {
      for (const int64_t at : {int64_t{0}, 17 * kDenseBlockFloats + 3, kBlocks * kDenseBlockFloats - 1}) {
        LocalJob job = Servers(JobOf(kSync, 2), servers);
        EXPECT_OK(job.RunRanks([&, value = value, refused = refused](Client* client) -> absl::Status {
          ROWAN_ASSIGN_OR_RETURN(const Dense bad, client->OpenDense(DenseOf("bad", kBlocks * kDenseBlockFloats, kSgd)));
          ROWAN_ASSIGN_OR_RETURN(const Dense good, client->OpenDense(DenseOf("good", kDenseBlockFloats * 9, kSgd)));
          std::vector<float> gradient(bad.size(), 1), ones(good.size(), 1);
          if (client->rank() == 1) gradient[at] = value;
          ROWAN_ASSIGN_OR_RETURN(Step step, client->BeginStep());
          ROWAN_RETURN_IF_ERROR(step.Push({}, {{bad, gradient}, {good, ones}}, /*weight=*/1).Wait());
          ROWAN_RETURN_IF_ERROR(client->Finish());
          std::vector<float> values(bad.size());
          ROWAN_RETURN_IF_ERROR(client->Lookup({}, {{bad, absl::MakeSpan(values)}, {good, absl::MakeSpan(ones)}}));
          EXPECT_EQ(ones, std::vector<float>(ones.size(), -1));
          size_t moved = 0;
          for (const float v : values) moved += v != 0;
          EXPECT_EQ(moved, refused ? 0 : values.size()) << servers << " servers, " << value << " at " << at;
          return absl::OkStatus();
        }));
        EXPECT_EQ(job.counts().refused_dense, refused ? 1 : 0);
      }
    }
  }
}

TEST(SeveralServersTest, AsyncRefusesADenseGradientOnAllServersToo) {
  LocalJob job = Servers(JobOf(kAsync, 1), 3);
  const auto tool = job.ConnectTool();
  const Dense dense = *tool->OpenDense(DenseOf("d", 20 * kDenseBlockFloats, kSgd));
  std::vector<float> gradient(dense.size(), 1), values(dense.size());
  gradient[5] = NAN;
  ASSERT_OK(tool->PushBare({}, {{dense, gradient}}));
  ASSERT_OK(tool->Lookup({}, {{dense, absl::MakeSpan(values)}}));
  EXPECT_EQ(values, std::vector<float>(values.size(), 0));
}

TEST(SeveralServersTest, AClientOfTheWrongServersIsToldSo) {
  LocalJob job = Servers(JobOf(kAsync, 1), 3);
  Client::Options options = job.Options();
  options.takes_part = false;
  options.servers.pop_back();
  EXPECT_THAT(Client::Connect(options),
              StatusIs(absl::StatusCode::kInvalidArgument, "the job has 3 servers, the client was given 2"));
  options = job.Options();
  options.takes_part = false;
  std::swap(options.servers[0], options.servers[2]);
  const auto client = LocalJob::Connect(options);
  const Table table = *client->OpenTable(Counter());
  uint64_t key = 0;
  while (job.coordinator()->Map().server_of_shard[Placement(16).ShardOfKey(key)] != 0) ++key;
  float row = 5;
  EXPECT_THAT(client->Lookup({{table, {&key, 1}, {&row, 1}}}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is not on this server, map version 1")));
  EXPECT_EQ(row, 5);
}

}  // namespace
}  // namespace rowan
