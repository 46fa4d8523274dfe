#include "server/table/shard_engine.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/server/table/engine_fixture.h"
#include "tests/server/table/keys.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::DenseGradients;
using ::rowan::testing::DenseOf;
using ::rowan::testing::IsOk;
using ::rowan::testing::MakePush;
using ::rowan::testing::OddKeys;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TableOf;
using ::rowan::testing::TestEngine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kSgd = proto::Optimizer::SGD;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(ShardEngineTest, EveryKeyIsLegal) {
  for (const uint32_t shards : {1u, 16u, 256u, 65536u}) {
    TestEngine engine(shards);
    const uint32_t table = engine.Add(TableOf("t", 2, kSgd));
    const std::vector<uint64_t> keys = OddKeys();
    const std::vector<float> initial = engine.Pull(table, keys);
    std::vector<float> gradients;
    for (size_t i = 0; i < keys.size(); ++i) gradients.insert(gradients.end(), {float(i), -float(i)});
    engine.Push({{table, keys, gradients}});
    std::vector<Outcome> outcomes;
    const std::vector<float> moved = engine.Pull(table, keys, &outcomes);
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(outcomes[i], Outcome::kFound);
      EXPECT_EQ(moved[2 * i], initial[2 * i] - i) << "key " << keys[i];
      EXPECT_EQ(moved[2 * i + 1], initial[2 * i + 1] + i);
    }
    EXPECT_EQ(engine.rows(), static_cast<int64_t>(keys.size()));
  }
}

TEST(ShardEngineTest, APullChangesNothing) {
  TestEngine engine(16);
  const uint32_t initial = engine.Add(TableOf("initial", 3, kSgd));
  proto::TableSpec spec = TableOf("zero", 3, kSgd);
  spec.set_absent(proto::TableSpec::ZERO);
  const uint32_t zero = engine.Add(spec);
  engine.Push({{initial, {1, 2}, std::vector<float>(6, 1)}, {zero, {1, 2}, std::vector<float>(6, 1)}});
  const Digest before = engine->TotalDigest();
  const std::vector<uint64_t> keys = {2, 3, 3, 2};
  std::vector<Outcome> outcomes;
  const std::vector<float> first = engine.Pull(initial, keys, &outcomes);
  EXPECT_THAT(outcomes, ElementsAre(Outcome::kFound, Outcome::kAbsent, Outcome::kAbsent, Outcome::kFound));
  EXPECT_EQ(engine.Pull(initial, keys), first);
  EXPECT_NE(first[3], 0) << "an absent row of the first table has its initial values";
  const std::vector<float> zeros = engine.Pull(zero, keys, &outcomes);
  EXPECT_EQ(std::vector<float>(zeros.begin() + 3, zeros.begin() + 9), std::vector<float>(6, 0.0f));
  EXPECT_THAT(outcomes, ElementsAre(Outcome::kFound, Outcome::kAbsent, Outcome::kAbsent, Outcome::kFound));
  EXPECT_EQ(engine->TotalDigest(), before);
  EXPECT_EQ(engine.rows(), 4);
}

TEST(ShardEngineTest, AnAbsentRowIsPulledWithTheValuesThatItIsBornWith) {
  TestEngine engine(16), other(256);
  const uint32_t table = engine.Add(TableOf("t", 8, kSgd));
  other.Add(TableOf("another name", 8, kSgd));
  const std::vector<float> before = engine.Pull(table, OddKeys());
  EXPECT_EQ(other.Pull(1, OddKeys()), before) << "a first value depends on seed and key alone";
  engine.Push({{table, OddKeys(), std::vector<float>(OddKeys().size() * 8, 0.0f)}});
  EXPECT_EQ(engine.rows(), static_cast<int64_t>(OddKeys().size()));
  EXPECT_EQ(engine.Pull(table, OddKeys()), before) << "a zero gradient moves nothing";
}

TEST(ShardEngineTest, DuplicatesInAPushMeanTheirSum) {
  TestEngine engine(16);
  const uint32_t table = engine.Add(TableOf("t", 1, kSgd));
  const uint32_t adam = engine.Add(TableOf("adam", 1, proto::Optimizer::ADAM));
  const float before = engine.Pull(table, {7})[0];
  const ApplyCounts counts = engine.Push({{table, {7, 7, 7}, {1, 2, 3}}});
  EXPECT_EQ(engine.Pull(table, {7})[0], before - 6);
  EXPECT_EQ(counts.updated_rows, 1);
  // One update, not three: for Adam three would differ, and the count would say 3.
  engine.Push({{adam, {7, 7, 7}, {1, 2, 3}}});
  TestEngine summed(16);
  summed.Add(TableOf("t", 1, kSgd));
  summed.Add(TableOf("adam", 1, proto::Optimizer::ADAM));
  summed.Push({{table, {7}, {6}}});
  summed.Push({{adam, {7}, {6}}});
  EXPECT_EQ(engine->TotalDigest(), summed->TotalDigest());
}

TEST(ShardEngineTest, GradientsAreMultipliedByOneOverTheWeight) {
  TestEngine engine(16);
  const uint32_t table = engine.Add(TableOf("t", 1, kSgd));
  const uint32_t dense = engine.Add(DenseOf("d", 1, kSgd));
  const float before = engine.Pull(table, {7})[0];
  engine.Push({{table, {7}, {6}}}, {{dense, "d", {6}}}, /*weight=*/4);
  EXPECT_EQ(engine.Pull(table, {7})[0], before - 1.5f);
  EXPECT_THAT(engine.PullDense(dense), ElementsAre(-1.5f));
  engine.Push({{table, {7}, {1}}}, {{dense, "d", {1}}}, /*weight=*/0.5);
  EXPECT_EQ(engine.Pull(table, {7})[0], before - 3.5f);
  EXPECT_THAT(engine.PullDense(dense), ElementsAre(-3.5f));
}

TEST(ShardEngineTest, RequestsMayHaveAnyNumberOfKeys) {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{100000}, size_t{2000000}}) {
    TestEngine engine(256);
    const uint32_t table = engine.Add(TableOf("t", 1, kSgd));
    std::vector<uint64_t> keys(n);
    for (size_t i = 0; i < n; ++i) keys[i] = i * 0x9e3779b97f4a7c15u;
    const std::vector<float> before = engine.Pull(table, keys);
    std::vector<float> gradients(n);
    for (size_t i = 0; i < n; ++i) gradients[i] = static_cast<float>(i % 64);
    const ApplyCounts counts = engine.Push({{table, keys, gradients}});
    EXPECT_EQ(counts.born_rows, static_cast<int64_t>(n));
    const std::vector<float> after = engine.Pull(table, keys);
    size_t wrong = 0;
    for (size_t i = 0; i < n; ++i) wrong += after[i] != before[i] - static_cast<float>(i % 64);
    EXPECT_EQ(wrong, 0u) << n << " keys";
    EXPECT_EQ(engine.rows(), static_cast<int64_t>(n));
  }
}

TEST(ShardEngineTest, RefusesNonFiniteRowsAndAppliesTheOthers) {
  TestEngine engine(16);
  const uint32_t table = engine.Add(TableOf("t", 2, kSgd));
  const std::vector<float> before = engine.Pull(table, {1, 2, 3, 4, 5});
  // 4: a sum of finite gradients that is not finite. 5: infinite only by its duplicates.
  const float max = std::numeric_limits<float>::max();
  const ApplyCounts counts =
      engine.Push({{table, {1, 2, 3, 4, 4, 5, 5}, {1, 1, kNan, 1, 1, kInf, max, 1, max, 1, kInf, 1, -kInf, 1}}});
  EXPECT_EQ(counts.refused_rows, 4);
  EXPECT_EQ(counts.updated_rows, 1);
  EXPECT_EQ(counts.born_rows, 1);
  std::vector<float> expected = before;
  expected[0] -= 1;
  expected[1] -= 1;
  EXPECT_EQ(engine.Pull(table, {1, 2, 3, 4, 5}), expected);
  EXPECT_EQ(engine.rows(), 1) << "a refused gradient bears no row";
}

TEST(ShardEngineTest, RefusesADenseUpdateAsAWhole) {
  TestEngine engine(16);
  const uint32_t bad = engine.Add(DenseOf("bad", 20000, kSgd));
  const uint32_t good = engine.Add(DenseOf("good", 20000, kSgd));
  const uint32_t table = engine.Add(TableOf("t", 1, kSgd));
  std::vector<float> gradient(20000, 1);
  gradient[12345] = kNan;
  const ApplyCounts counts =
      engine.Push({{table, {1}, {1}}}, {{bad, "bad", gradient}, {good, "good", std::vector<float>(20000, 1)}});
  EXPECT_EQ(counts.refused_dense, 1);
  EXPECT_EQ(counts.updated_rows, 1);
  EXPECT_EQ(engine.PullDense(bad), std::vector<float>(20000, 0.0f)) << "blocks without NaN stay too";
  EXPECT_EQ(engine.PullDense(good), std::vector<float>(20000, -1.0f));
}

TEST(ShardEngineTest, DenseGradientsOfSeveralPushesAndSectionsAddUp) {
  for (const uint32_t shards : {1u, 256u}) {
    TestEngine engine(shards);
    const uint32_t a = engine.Add(DenseOf("a", 9000, kSgd));
    const uint32_t b = engine.Add(DenseOf("b", 3, kSgd));
    std::vector<float> ramp(9000);
    for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = i;
    const PushRequest first = MakePush(engine->placement(), {}, {{a, "a", ramp}});
    const PushRequest second =
        MakePush(engine->placement(), {}, {{b, "b", {1, 2, 3}}, {a, "a", ramp}, {b, "b", {1, 1, 1}}});
    const PushRequest* const pushes[] = {&first, &second};
    for (const PushRequest* push : pushes) ASSERT_OK(engine->CheckPush(*push));
    engine->ApplyStep(pushes, 2, 0);
    for (float& value : ramp) value = -value;
    EXPECT_EQ(engine.PullDense(a), ramp);
    EXPECT_THAT(engine.PullDense(b), ElementsAre(-1, -1.5, -2));
  }
}

TEST(ShardEngineTest, NamesWhatIsWrongInAPullAndWritesNothing) {
  TestEngine engine(16);
  const uint32_t table = engine.Add(TableOf("t", 4, kSgd));
  const uint32_t dense = engine.Add(DenseOf("d", 5000, kSgd));
  std::vector<uint64_t> keys = {1, 2};
  std::vector<float> rows(8, 7), block(4096, 7);
  std::vector<Outcome> outcomes(1);
  const TablePull good{table, keys, absl::MakeSpan(rows), {}};
  const auto pull = [&](TablePull bad) { return engine->Pull({good, bad}, {}); };
  EXPECT_THAT(pull({99, keys, absl::MakeSpan(rows), {}}), StatusIs(absl::StatusCode::kNotFound, "no table has id 99"));
  EXPECT_THAT(pull({dense, keys, absl::MakeSpan(rows), {}}),
              StatusIs(absl::StatusCode::kNotFound, "no table has id 2"));
  EXPECT_THAT(pull({table, keys, absl::MakeSpan(rows).subspan(1), {}}),
              StatusIs(kInvalid, "pull from table 't': 2 keys of width 4 need 8 floats, got room for 7"));
  EXPECT_THAT(pull({table, keys, absl::MakeSpan(rows), absl::MakeSpan(outcomes)}),
              StatusIs(kInvalid, "pull from table 't': 2 keys, 1 outcomes"));
  const auto pull_dense = [&](uint32_t id, uint64_t number, size_t size) {
    const DensePull bad[] = {{id, number, absl::MakeSpan(block).first(size)}};
    return engine->Pull({good}, bad);
  };
  EXPECT_THAT(pull_dense(table, 0, 4096), StatusIs(absl::StatusCode::kNotFound, "no dense parameter has id 1"));
  EXPECT_THAT(pull_dense(dense, 2, 904),
              StatusIs(kInvalid, HasSubstr("'d' block 2 into 904 floats: it has size 5000")));
  EXPECT_THAT(pull_dense(dense, ~uint64_t{0}, 904),
              StatusIs(kInvalid, HasSubstr("'d' block 18446744073709551615 into")));
  EXPECT_THAT(pull_dense(dense, 1, 4096), StatusIs(kInvalid, HasSubstr("'d' block 1 into 4096 floats")));
  EXPECT_EQ(rows, std::vector<float>(8, 7)) << "nothing is written when anything is wrong";
  EXPECT_OK(engine->Pull({good}, {})) << "the engine lives";
}

TEST(ShardEngineTest, NamesWhatIsWrongInAPush) {
  TestEngine engine(16);
  const uint32_t table = engine.Add(TableOf("t", 2, kSgd));
  const uint32_t dense = engine.Add(DenseOf("d", 5000, kSgd));
  const uint64_t key = testing::KeyOfHash(uint64_t{3} << 60);  // of shard 3
  const std::vector<uint64_t> keys = {key};
  const std::vector<float> floats(5000, 1);
  const std::vector<uint32_t> two = {1, 1};
  const auto check = [&](std::vector<PushSection> sections, double weight = 0) {
    PushRequest push;
    push.weight = weight;
    push.sections = std::move(sections);
    return engine->CheckPush(push);
  };
  const absl::Span<const float> all(floats);
  const PushSection good{3, {{table, keys, {}, all.first(2)}}, {}};
  for (const double weight : {0.0, 1e-18, 1e18}) EXPECT_OK(check({good}, weight));
  // 1 / 1e-39 is no float.
  for (const double weight : {-1.0, double{kNan}, double{kInf}, 1.1e18, 0.9e-18, 1e-39, 5e-324}) {
    EXPECT_THAT(check({good}, weight), StatusIs(kInvalid, HasSubstr("push of weight ")));
  }
  EXPECT_THAT(check({{16, {}, {}}}),
              StatusIs(kInvalid, HasSubstr("section for shard 16: shards are 0 to 15, ascending")));
  EXPECT_THAT(check({good, good}), StatusIs(kInvalid, HasSubstr("ascending, each once")));
  EXPECT_THAT(
      check({{4, {{table, keys, {}, all.first(2)}}, {}}}),
      StatusIs(kInvalid, absl::StrCat("push section for shard 4, table 't': key ", key, " belongs to shard 3")));
  EXPECT_THAT(check({{3, {{9, keys, {}, all.first(2)}}, {}}}),
              StatusIs(absl::StatusCode::kNotFound, "push section for shard 3: no table has id 9"));
  EXPECT_THAT(check({{3, {{table, keys, {}, all.first(3)}}, {}}}),
              StatusIs(kInvalid, "push section for shard 3, table 't' of width 2: 1 keys, 3 floats, 0 occurrences"));
  EXPECT_THAT(check({{3, {{table, keys, two, all.first(2)}}, {}}}), StatusIs(kInvalid, HasSubstr("2 occurrences")));
  const uint32_t home = engine->placement().ShardOfDenseBlock("d", 1);
  EXPECT_OK(check({{home, {}, {{dense, 1, all.first(904)}}}}));
  for (const PushSection& bad :
       {PushSection{home, {}, {{dense, 1, all.first(903)}}}, PushSection{home, {}, {{dense, 2, all.first(904)}}},
        PushSection{(home + 1) % 16, {}, {{dense, 1, all.first(904)}}}}) {
    EXPECT_THAT(check({bad}), StatusIs(kInvalid, HasSubstr("dense parameter 'd' of size 5000: block")));
  }
  EXPECT_THAT(check({{3, {}, {{table, 0, all.first(1)}}}}),
              StatusIs(absl::StatusCode::kNotFound, "push section for shard 3: no dense parameter has id 1"));
}

TEST(ShardEngineTest, RefusesMoreKeysThanItCanNumber) {
  TestEngine engine(1);
  const uint32_t table = engine.Add(TableOf("t", 1, kSgd));
  uint64_t key = 7;
  float row = 7;
  for (const size_t n : {(size_t{1} << 31) + 1, size_t{1} << 32, size_t{1} << 60}) {  // Memory that nobody may touch.
    const absl::Span<const uint64_t> keys(&key, n);
    EXPECT_THAT(engine->Pull({{table, keys, {&row, n}, {}}}, {}),
                StatusIs(kInvalid, absl::StrCat("pull from table 't': ", n, " keys, at most 2147483648 at once")));
    PushRequest push;
    push.sections = {{0, {{table, {&key, 1}, {}, {&row, 1}}, {table, keys.first(n - 1), {}, {&row, n - 1}}}, {}}};
    EXPECT_THAT(engine->CheckPush(push), StatusIs(kInvalid, HasSubstr("after 1, at most 2147483648 in a push")));
  }
}

TEST(ShardEngineTest, AnIdIsTakenOnceAndSmall) {
  TestEngine engine(16);
  engine.Add(TableOf("t", 2, kSgd));
  const auto table = [](uint32_t id) { return *TableSchema::Create(id, TableOf("u", 1, kSgd), 1); };
  const auto dense = [](uint32_t id) { return *DenseSchema::Create(id, DenseOf("u", 1, kSgd), 1); };
  EXPECT_THAT(engine->AddTable(table(1)), StatusIs(absl::StatusCode::kAlreadyExists, "table id 1 is taken"));
  EXPECT_THAT(engine->AddDense(dense(1)), StatusIs(absl::StatusCode::kAlreadyExists, "table id 1 is taken"));
  for (const uint32_t id : {65536u, 0xffffffffu}) {
    EXPECT_THAT(engine->AddTable(table(id)), StatusIs(kInvalid, HasSubstr("must be below 65536")));
    EXPECT_THAT(engine->AddDense(dense(id)), StatusIs(kInvalid, HasSubstr("must be below 65536")));
  }
  EXPECT_EQ(engine->Tables().size(), 1u);
  EXPECT_EQ(engine->DenseParameters().size(), 0u);
}

TEST(ShardEngineTest, APushIsAppliedOnceForItsRankAndNumber) {
  TestEngine engine(16);
  const uint32_t table = engine.Add(TableOf("t", 1, kSgd));
  const uint32_t dense = engine.Add(DenseOf("d", 1, kSgd));
  const float before = engine.Pull(table, {7})[0];
  const auto push = [&](uint32_t rank, uint64_t number, float gradient,
                        float dense_gradient = 0) -> absl::StatusOr<ApplyCounts> {
    RequestHeader header;
    header.rank = rank;
    header.number = number;
    const PushRequest request =
        MakePush(engine->placement(), {{table, {7}, {gradient}}}, {{dense, "d", {dense_gradient}}}, 0, header);
    std::vector<SectionOutcome> outcomes;
    ApplyCounts counts;
    const absl::Status status = engine->ApplyOnce(request, &outcomes, &counts);
    EXPECT_EQ(outcomes.size(), status.ok() ? request.sections.size() : 0);
    if (!status.ok()) return status;
    const bool applied = counts.updated_rows == 1;
    EXPECT_EQ(outcomes[0], applied ? SectionOutcome::kApplied : SectionOutcome::kDuplicate);
    return counts;
  };
  ASSERT_OK(push(0, 100, 1));
  for (int i = 0; i < 3; ++i) EXPECT_OK(push(0, 100, 1));
  EXPECT_EQ(engine.Pull(table, {7})[0], before - 1);
  ASSERT_OK(push(1, 100, 1)) << "another rank's push of the same number is another push";
  ASSERT_OK(push(0, 36, 1)) << "64 below the newest";
  EXPECT_OK(push(0, 36, 1));
  EXPECT_EQ(engine.Pull(table, {7})[0], before - 3);
  EXPECT_THAT(push(0, 35, 1), StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("push 35 of rank 0 for shard")));
  EXPECT_EQ(engine.Pull(table, {7})[0], before - 3) << "nothing of it is applied";
  EXPECT_EQ(push(0, 101, 1, kNan)->refused_dense, 1);
  EXPECT_EQ(push(0, 101, 1, kNan)->refused_dense, 0) << "refused once, not with every repetition";

  // The windows go with the shard.
  TestEngine restored(16);
  restored.Add(TableOf("t", 1, kSgd));
  restored.Add(DenseOf("d", 1, kSgd));
  for (uint32_t shard = 0; shard < 16; ++shard) restored->LoadState(shard, engine->State(shard));
  RequestHeader header;
  header.number = 101;
  std::vector<SectionOutcome> outcomes;
  const PushRequest again = MakePush(restored->placement(), {{table, {7}, {1}}}, {}, 0, header);
  ApplyCounts counts;
  ASSERT_OK(restored->ApplyOnce(again, &outcomes, &counts));
  EXPECT_THAT(outcomes, ElementsAre(SectionOutcome::kDuplicate));
}

TEST(ShardEngineTest, ARankThatOverrunsItsWindowIsToldTheTruth) {
  // While the gradients of a large dense parameter are summed, a push far ahead comes in one of the shards.
  TestEngine engine(16);
  const uint32_t table = engine.Add(TableOf("t", 1, kSgd));
  const uint32_t dense = engine.Add(DenseOf("d", 1 << 20, kSgd));
  std::vector<uint64_t> keys(100);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  const std::vector<float> ones(keys.size(), 1), tower(1 << 20, 0);
  const std::vector<float> before = engine.Pull(table, keys);
  std::atomic<int64_t> updated{0};
  int64_t overrun = 0;
  for (uint64_t round = 0; round < 200 && overrun < 3; ++round) {
    const auto apply = [&](const PushRequest& push) {
      std::vector<SectionOutcome> outcomes;
      ApplyCounts counts;
      const absl::Status status = engine->ApplyOnce(push, &outcomes, &counts);
      EXPECT_TRUE(status.ok() || absl::IsOutOfRange(status)) << status;
      EXPECT_EQ(outcomes.empty(), !status.ok());
      updated += counts.updated_rows;
      return !status.ok() && counts.updated_rows > 0;
    };
    RequestHeader header;
    header.number = round * 200;
    const PushRequest late = MakePush(engine->placement(), {{table, keys, ones}}, {{dense, "d", tower}}, 0, header);
    header.number += 100;
    const PushRequest ahead = MakePush(engine->placement(), {{table, {7}, {1}}}, {}, 0, header);
    std::thread other([&] { apply(ahead); });
    overrun += apply(late);
    other.join();
  }
  const std::vector<float> after = engine.Pull(table, keys);
  double moved = 0;
  for (size_t i = 0; i < keys.size(); ++i) moved += std::round(before[i] - after[i]);
  EXPECT_EQ(moved, static_cast<double>(updated));
  if (overrun == 0) GTEST_SKIP() << "the threads never met";
}

TEST(ShardEngineTest, TwoThreadsFirstTouchingAKeyMakeOneRowAndLoseNothing) {
  for (int round = 0; round < 100; ++round) {
    TestEngine engine(1, /*threads=*/1);
    const uint32_t table = engine.Add(TableOf("t", 1, kSgd));
    const float before = engine.Pull(table, {7})[0];
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        RequestHeader header;
        header.rank = rank;
        std::vector<SectionOutcome> outcomes;
        ApplyCounts counts;
        EXPECT_OK(
            engine->ApplyOnce(MakePush(engine->placement(), {{table, {7}, {1}}}, {}, 0, header), &outcomes, &counts));
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(engine.rows(), 1);
    ASSERT_EQ(engine.Pull(table, {7})[0], before - 2);
  }
}

TEST(ShardEngineTest, PullsBesidePushesSeeWholeRows) {
  TestEngine engine(16, /*threads=*/3);
  const uint32_t width = 256;
  proto::TableSpec spec = TableOf("t", width, kSgd);
  spec.mutable_slices(0)->clear_initializer();
  const uint32_t table = engine.Add(spec);
  std::vector<uint64_t> keys(50);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  std::thread pusher([&] {
    for (uint64_t step = 0; step < 100; ++step) {
      engine.Push({{table, keys, std::vector<float>(keys.size() * width, 1)}}, {}, 0, step);
    }
  });
  for (int i = 0; i < 100; ++i) {
    const std::vector<float> rows = engine.Pull(table, keys);
    for (size_t k = 0; k < keys.size(); ++k) {
      const std::vector<float> row(rows.begin() + k * width, rows.begin() + (k + 1) * width);
      ASSERT_EQ(row, std::vector<float>(width, row[0])) << "half of an update";
    }
  }
  pusher.join();
}

TEST(ShardEngineTest, ResultBitsDoNotDependOnShardsOrThreads) {
  std::vector<Digest> digests;
  for (const uint32_t shards : {1u, 16u, 256u}) {
    for (const int threads : {1, 2, 3}) {
      TestEngine engine(shards, threads);
      const uint32_t sgd = engine.Add(TableOf("s", 3, kSgd));
      const uint32_t adam = engine.Add(TableOf("a", 8, proto::Optimizer::ADAM, 0.01f));
      const uint32_t dense = engine.Add(DenseOf("d", 9000, proto::Optimizer::ADAGRAD, 0.01f));
      std::mt19937_64 random(4);
      std::normal_distribution<float> normal(0, 1);
      for (uint64_t step = 0; step < 10; ++step) {
        std::vector<uint64_t> keys(500);
        for (uint64_t& key : keys) key = random() % 300;
        std::vector<float> g3(1500), g8(4000), gd(9000);
        for (auto* gradients : {&g3, &g8, &gd}) {
          for (float& g : *gradients) g = normal(random);
        }
        engine.Push({{sgd, keys, g3}, {adam, keys, g8}}, {{dense, "d", gd}}, 77, step);
      }
      digests.push_back(engine->TotalDigest());
    }
  }
  for (const Digest& digest : digests) EXPECT_EQ(digest, digests[0]);
}

TEST(ShardEngineTest, AThousandSmallTablesCostLittle) {
  TestEngine engine(256);
  std::vector<testing::RowGradients> rows;
  for (int t = 0; t < 1000; ++t) {
    const uint32_t id = engine.Add(TableOf("t" + std::to_string(t), 16, proto::Optimizer::ADAGRAD));
    rows.push_back({id, {}, std::vector<float>(160, 1)});
    for (uint64_t key = 0; key < 10; ++key) rows.back().keys.push_back(key * 1000 + t);
  }
  EXPECT_EQ(engine.Push(rows).born_rows, 10000);
  int64_t bytes = engine->reserved_bytes();
  for (const TableUsage& usage : engine->Usage()) {
    EXPECT_EQ(usage.rows, 10);
    EXPECT_GE(usage.block_bytes, 10 * 148);
    bytes += usage.block_bytes + usage.index_bytes;
  }
  // Beside it a few hundred bytes for each table's part of a shard, at most 10,000 of them.
  bytes += 10000 * (sizeof(ShardTable) + 64) + 256 * 1001 * sizeof(void*);
  EXPECT_LE(bytes, 64 << 20);
}

TEST(ShardEngineTest, RefusesBlocksThatDoNotFit) {
  TestEngine engine(16);
  const uint32_t table = engine.Add(TableOf("t", 2, kSgd));
  const uint32_t dense = engine.Add(DenseOf("d", 5, kSgd));
  const uint64_t key = testing::KeyOfHash(uint64_t{3} << 60);
  std::string block(28, '\0');
  std::memcpy(block.data(), &key, 8);
  EXPECT_THAT(engine->LoadBlock(3, 9, key, block), StatusIs(absl::StatusCode::kNotFound, HasSubstr("id 9")));
  EXPECT_THAT(engine->LoadBlock(4, table, key, block), StatusIs(kInvalid, HasSubstr("belongs to shard 3, not 4")));
  EXPECT_THAT(engine->LoadBlock(3, table, key, block.substr(1)), StatusIs(kInvalid, HasSubstr("27 bytes, must be 28")));
  EXPECT_THAT(engine->LoadBlock(3, table, key, ""), StatusIs(kInvalid, HasSubstr("0 bytes, must be 28")));
  EXPECT_THAT(engine->LoadBlock(3, table, key + 1, block), StatusIs(kInvalid, HasSubstr("begin with the key")));
  EXPECT_THAT(engine->LoadBlock(3, dense, 1, block), StatusIs(kInvalid, HasSubstr("has 1 blocks")));
  ASSERT_OK(engine->LoadBlock(3, table, key, block));
  EXPECT_THAT(engine->LoadBlock(3, table, key, block), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("twice")));
  EXPECT_EQ(engine.rows(), 1);
}

}  // namespace
}  // namespace rowan
