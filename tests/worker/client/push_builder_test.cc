#include "worker/client/push_builder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/table/keys.h"

namespace rowan {
namespace {

struct Table {
  uint32_t id;
  int64_t width;
  std::vector<uint64_t> keys;
  std::vector<uint32_t> occurrences;  // or empty
  std::vector<float> gradients;
};
struct Parameter {
  uint32_t id;
  std::string name;
  std::vector<float> gradient;
};

// Everything is in its shard's section, in the order given, once; the spans point into the request's own memory.
void Check(const Placement& placement, const std::vector<Table>& tables, const std::vector<Parameter>& dense,
           const PushRequest& request) {
  int64_t last_shard = -1;
  std::map<uint32_t, size_t> next;  // of each table, per shard
  std::map<uint32_t, std::set<uint64_t>> blocks;
  size_t rows = 0, expected_rows = 0, expected_blocks = 0, seen_blocks = 0;
  for (const PushSection& section : request.sections) {
    ASSERT_GT(static_cast<int64_t>(section.shard), last_shard);
    last_shard = section.shard;
    ASSERT_FALSE(section.tables.empty() && section.dense.empty());
    for (const TableGradients& g : section.tables) {
      const Table& table = *std::find_if(tables.begin(), tables.end(), [&](const Table& t) { return t.id == g.table; });
      size_t i = 0;
      for (size_t from = 0; from < table.keys.size(); ++from) {
        if (placement.ShardOfKey(table.keys[from]) != section.shard) continue;
        ASSERT_LT(i, g.keys.size());
        ASSERT_EQ(g.keys[i], table.keys[from]);
        ASSERT_EQ(g.occurrences[i], table.occurrences.empty() ? 1 : table.occurrences[from]);
        for (int64_t e = 0; e < table.width; ++e) {
          ASSERT_EQ(g.gradients[i * table.width + e], table.gradients[from * table.width + e]);
        }
        ++i;
      }
      ASSERT_EQ(g.keys.size(), i);
      ASSERT_EQ(g.gradients.size(), i * table.width);
      rows += i;
    }
    for (const DenseGradient& g : section.dense) {
      const Parameter& p =
          *std::find_if(dense.begin(), dense.end(), [&](const Parameter& d) { return d.id == g.dense; });
      ASSERT_EQ(placement.ShardOfDenseBlock(p.name, g.block), section.shard);
      ASSERT_TRUE(blocks[p.id].insert(g.block).second);
      const auto begin = p.gradient.begin() + g.block * 4096;
      ASSERT_EQ(std::vector<float>(g.gradient.begin(), g.gradient.end()),
                std::vector<float>(begin, begin + std::min<int64_t>(4096, p.gradient.end() - begin)));
      ++seen_blocks;
    }
  }
  for (const Table& table : tables) expected_rows += table.keys.size();
  for (const Parameter& p : dense) expected_blocks += (p.gradient.size() + 4095) / 4096;
  EXPECT_EQ(rows, expected_rows);
  EXPECT_EQ(seen_blocks, expected_blocks);
}

TEST(PushBuilderTest, PutsEveryGradientIntoItsShardsSectionAndOwnsTheCopy) {
  ThreadPool pool(3);
  std::mt19937_64 random(2);
  for (const uint32_t shards : {1u, 16u, 256u}) {
    for (ThreadPool* const p : {static_cast<ThreadPool*>(nullptr), &pool}) {
      const Placement placement(shards);
      PushBuilder builder(placement, p);
      std::vector<PushRequest> held;  // Several pushes at once: none may use another's memory.
      std::vector<std::pair<std::vector<Table>, std::vector<Parameter>>> inputs;
      for (int round = 0; round < 20; ++round) {
        std::vector<Table> tables;
        for (uint32_t t = 0; t < random() % 4; ++t) {
          tables.push_back({t + 1, static_cast<int64_t>(1 + random() % 20), {}, {}, {}});
          for (size_t i = 0, n = random() % 500; i < n; ++i) {
            tables.back().keys.push_back(random() % 3 == 0 ? testing::OddKeys()[random() % 16] : random());
            if (round % 2 == 0) tables.back().occurrences.push_back(random() % 9);
            for (int64_t e = 0; e < tables.back().width; ++e) tables.back().gradients.push_back(random() % 1000);
          }
        }
        std::vector<Parameter> dense;
        if (round % 3 == 0) dense = {{8, "a", std::vector<float>(1, 5)}, {9, "b", std::vector<float>(9000, round)}};
        // The caller's arrays die before the push is looked at.
        const auto dying = std::make_unique<std::pair<std::vector<Table>, std::vector<Parameter>>>(tables, dense);
        std::vector<PushBuilder::Rows> rows;
        for (const Table& t : dying->first) rows.push_back({t.id, t.width, t.keys, t.occurrences, t.gradients});
        std::vector<PushBuilder::Dense> parameters;
        for (const Parameter& d : dying->second) parameters.push_back({d.id, d.name, d.gradient});
        held.push_back(builder.Build(rows, parameters));
        inputs.emplace_back(tables, dense);
        if (held.size() > 3) {
          Check(placement, inputs.front().first, inputs.front().second, held.front());
          held.erase(held.begin());
          inputs.erase(inputs.begin());
        }
        if (HasFatalFailure()) FAIL() << shards << " shards, round " << round;
      }
    }
  }
}

TEST(PushBuilderTest, APushOutlivesItsBuilder) {
  PushRequest request;
  const std::vector<uint64_t> keys = {1, 2, 3};
  const std::vector<float> gradients = {1, 2, 3};
  {
    PushBuilder builder(Placement(1), nullptr);
    request = builder.Build({{PushBuilder::Rows{1, 1, keys, {}, gradients}}}, {});
  }
  EXPECT_EQ(request.sections[0].tables[0].gradients[2], 3);
}

TEST(PushBuilderTest, NothingMakesNoSections) {
  PushBuilder builder(Placement(16), nullptr);
  EXPECT_TRUE(builder.Build({}, {}).sections.empty());
  EXPECT_TRUE(builder.Build({{PushBuilder::Rows{1, 4, {}, {}, {}}}}, {}).sections.empty());
}

TEST(PushBuilderTest, DenseGradientsThatCannotBeAppliedAreNamed) {
  PushBuilder builder(Placement(16), nullptr);
  const auto refused = [&](float value, double weight, size_t size, size_t at) {
    std::vector<float> fine(size, 1), bad(size, -1);
    bad[at] = value;
    const PushRequest push = builder.Build({}, {{9, "a", bad}, {5, "b", fine}, {2, "c", bad}}, weight);
    EXPECT_EQ(push.weight, weight);
    if (push.refused_dense.empty()) return false;
    EXPECT_EQ(push.refused_dense, (std::vector<uint32_t>{2, 9}));
    return true;
  };
  for (const size_t size : {size_t{1}, size_t{15}, size_t{16}, size_t{5000}}) {
    for (const size_t at : {size_t{0}, size / 2, size - 1}) {
      for (const float sign : {-1.0f, 1.0f}) {
        EXPECT_TRUE(refused(sign * NAN, 0, size, at));
        EXPECT_TRUE(refused(sign * INFINITY, 5, size, at));
        EXPECT_TRUE(refused(sign * 0x1p100f, 0, size, at));
        EXPECT_TRUE(refused(sign * 0x1p100f, 1e6, size, at)) << "the sum over all ranks would not be safe";
        EXPECT_TRUE(refused(sign * 0x1p90f, 0x1p-10, size, at)) << "beyond the limit once it is divided";
        EXPECT_FALSE(refused(sign * 0x1.fffp99f, 0, size, at));
        EXPECT_FALSE(refused(sign * 0x1p99f, 1, size, at));
        EXPECT_FALSE(refused(sign * 1e-40f, 1, size, at));
      }
    }
  }
}

}  // namespace
}  // namespace rowan
