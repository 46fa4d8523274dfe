// The engine against std::map: random requests over several tables, every answer and every byte compared.
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/table/engine_fixture.h"
#include "tests/server/table/keys.h"
#include "tests/server/table/reference_optimizer.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::RowGradients;
using ::rowan::testing::TestEngine;

proto::Slice SliceOf(const std::string& name, uint32_t width, proto::Optimizer::Kind kind) {
  proto::Slice slice;
  slice.set_name(name);
  slice.set_width(width);
  proto::Optimizer* o = slice.mutable_optimizer();
  o->set_kind(kind);
  o->set_learning_rate(0.125f);
  if (kind == proto::Optimizer::ADAGRAD || kind == proto::Optimizer::ROW_WISE_ADAGRAD ||
      kind == proto::Optimizer::FTRL) {
    o->set_initial_accumulator(0.25f);
  }
  if (kind == proto::Optimizer::ADAGRAD || kind == proto::Optimizer::ROW_WISE_ADAGRAD ||
      kind == proto::Optimizer::ADAM) {
    o->set_epsilon(1e-6f);
  }
  if (kind == proto::Optimizer::ADAM) {
    o->set_beta1(0.9f);
    o->set_beta2(0.99f);
  }
  if (kind == proto::Optimizer::FTRL) {
    o->set_l1(1e-3f);
    o->set_l2(1e-2f);
    o->set_beta(1e-2f);
  }
  return slice;
}

std::vector<proto::TableSpec> Specs() {
  using O = proto::Optimizer;
  const std::vector<std::vector<proto::Slice>> tables = {
      {SliceOf("", 3, O::SGD)},
      {SliceOf("w", 1, O::FTRL), SliceOf("v", 16, O::ADAGRAD)},
      {SliceOf("a", 5, O::ADAM), SliceOf("s", 7, O::SGD), SliceOf("r", 9, O::ROW_WISE_ADAGRAD)},
      {SliceOf("", 64, O::SGD)},
  };
  std::vector<proto::TableSpec> specs;
  for (size_t t = 0; t < tables.size(); ++t) {
    specs.emplace_back();
    specs.back().set_name("table " + std::to_string(t));
    if (t == 3) specs.back().set_absent(proto::TableSpec::ZERO);
    for (const proto::Slice& slice : tables[t]) {
      *specs.back().add_slices() = slice;
      proto::Initializer* initializer = specs.back().mutable_slices()->rbegin()->mutable_initializer();
      initializer->set_kind(proto::Initializer::CONSTANT);
      initializer->set_scale(0.5f + 0.25f * t);
    }
  }
  return specs;
}

// One row as the documents define it. SGD slices in float, to the bit; the others in double precision.
struct ModelRow {
  ModelRow(const proto::TableSpec& spec, uint64_t key) : key(key) {
    for (const proto::Slice& slice : spec.slices()) {
      const std::vector<float> initial(slice.width(), slice.initializer().scale());
      exact.insert(exact.end(), initial.begin(), initial.end());
      slices.emplace_back(slice.optimizer(), initial);
    }
  }
  void Update(const std::vector<float>& mean, uint64_t step) {
    ++updates;
    last_step = step;
    size_t at = 0;
    for (testing::ReferenceRow& slice : slices) {
      const std::vector<float> part(mean.begin() + at, mean.begin() + at + slice.w.size());
      slice.Update(part);
      for (const float g : part) {
        const float change = slice.spec.learning_rate() * g;
        exact[at++] -= change;
      }
    }
  }
  void Check(const float* values) const {
    size_t at = 0;
    for (const testing::ReferenceRow& slice : slices) {
      for (const double expected : slice.w) {
        if (slice.spec.kind() == proto::Optimizer::SGD) {
          ASSERT_EQ(values[at], exact[at]) << "key " << key << " element " << at;
        } else {
          ASSERT_NEAR(values[at], expected, 1e-4 * (1 + std::fabs(expected))) << "key " << key << " element " << at;
        }
        ++at;
      }
    }
  }

  uint64_t key;
  uint32_t updates = 0;
  uint64_t last_step = 0;
  std::vector<float> exact;  // right for SGD slices
  std::vector<testing::ReferenceRow> slices;
};

class EngineModelTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  static size_t Width(const proto::TableSpec& spec) {
    size_t width = 0;
    for (const proto::Slice& slice : spec.slices()) width += slice.width();
    return width;
  }

  std::unique_ptr<TestEngine> NewEngine(uint32_t shards) {
    auto engine = std::make_unique<TestEngine>(shards);
    for (const proto::TableSpec& spec : specs_) engine->Add(spec);
    return engine;
  }
  uint64_t RandomKey() { return random_() % 3 == 0 ? testing::OddKeys()[random_() % 16] : random_() % 400; }

  void PullSome(const TestEngine& engine) {
    const uint32_t t = random_() % specs_.size();
    std::vector<uint64_t> keys(random_() % 200);
    for (uint64_t& key : keys) key = RandomKey();
    std::vector<Outcome> outcomes;
    const std::vector<float> rows = engine.Pull(t + 1, keys, &outcomes);
    const size_t width = Width(specs_[t]);
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto row = model_.find({t, keys[i]});
      ASSERT_EQ(outcomes[i], row == model_.end() ? Outcome::kAbsent : Outcome::kFound);
      const float* const values = rows.data() + i * width;
      if (row != model_.end()) {
        row->second.Check(values);
      } else if (specs_[t].absent() == proto::TableSpec::ZERO) {
        ASSERT_EQ(std::vector<float>(values, values + width), std::vector<float>(width, 0));
      } else {
        ModelRow(specs_[t], keys[i]).Check(values);
      }
    }
  }

  // One step with the pushes of a few ranks.
  void PushSome(TestEngine* engine, uint64_t step) {
    std::normal_distribution<float> normal(0, 1);
    const double weight = random_() % 3 == 0 ? 0 : 1 + random_() % 100;
    std::map<std::pair<uint32_t, uint64_t>, std::vector<float>> sums;
    std::vector<PushRequest> pushes;
    for (size_t rank = 0; rank <= random_() % 3; ++rank) {
      std::vector<RowGradients> rows;
      for (uint32_t t = 0; t < specs_.size(); ++t) {
        const size_t width = Width(specs_[t]);
        RowGradients r{t + 1, {}, {}};
        for (size_t i = 0, n = random_() % 60; i < n; ++i) {
          const uint64_t key = RandomKey();
          r.keys.push_back(key);
          std::vector<float> gradient(width);
          for (float& g : gradient) g = normal(random_);
          if (random_() % 50 == 0) gradient[random_() % width] = random_() % 2 == 0 ? NAN : -INFINITY;
          r.gradients.insert(r.gradients.end(), gradient.begin(), gradient.end());
          const auto [sum, is_new] = sums.try_emplace({t, key}, gradient);
          for (size_t e = 0; e < width && !is_new; ++e) sum->second[e] += gradient[e];
        }
        rows.push_back(std::move(r));
      }
      pushes.push_back(testing::MakePush((*engine)->placement(), rows));
    }
    std::vector<const PushRequest*> in_order;
    for (const PushRequest& push : pushes) {
      ASSERT_OK((*engine)->CheckPush(push));
      in_order.push_back(&push);
    }
    const ApplyCounts counts = (*engine)->ApplyStep(in_order, weight, step);
    ApplyCounts expected;
    const float scale = weight == 0 ? 1.0f : static_cast<float>(1 / weight);
    for (auto& [id, gradient] : sums) {
      bool finite = true;
      for (float& g : gradient) {
        g *= scale;
        finite &= std::isfinite(g);
      }
      if (!finite) {
        ++expected.refused_rows;
        continue;
      }
      const auto [row, is_new] = model_.try_emplace(id, specs_[id.first], id.second);
      row->second.Update(gradient, step);
      expected.born_rows += is_new;
      ++expected.updated_rows;
    }
    ASSERT_EQ(counts.updated_rows, expected.updated_rows);
    ASSERT_EQ(counts.born_rows, expected.born_rows);
    ASSERT_EQ(counts.refused_rows, expected.refused_rows);
  }

  // Every row, by the documented offsets.
  void CheckBlocks(const TestEngine& engine) {
    std::set<std::pair<uint32_t, uint64_t>> seen;
    for (uint32_t shard = 0; shard < engine->placement().num_shards(); ++shard) {
      std::pair<uint32_t, uint64_t> last{0, 0};
      ASSERT_OK(engine->ForEachBlock(shard, [&](uint32_t id, uint64_t key, absl::string_view block) {
        EXPECT_EQ(engine->placement().ShardOfKey(key), shard);
        EXPECT_TRUE(seen.insert({id - 1, key}).second);
        EXPECT_TRUE(last < std::make_pair(id, key)) << "not ascending";
        last = {id, key};
        const ModelRow& row = model_.at({id - 1, key});
        uint64_t stored_key, step = 0;
        uint32_t updates;
        std::memcpy(&stored_key, block.data(), 8);
        std::memcpy(&updates, block.data() + 8, 4);
        std::memcpy(&step, block.data() + 12, 6);
        EXPECT_EQ(stored_key, key);
        EXPECT_EQ(updates, row.updates);
        EXPECT_EQ(step, row.last_step);
        std::vector<float> values(row.exact.size());
        std::memcpy(values.data(), block.data() + 20, values.size() * sizeof(float));
        row.Check(values.data());
        return absl::OkStatus();
      }));
    }
    EXPECT_EQ(seen.size(), model_.size());
    EXPECT_EQ(engine.rows(), static_cast<int64_t>(model_.size()));
  }

  const std::vector<proto::TableSpec> specs_ = Specs();
  std::mt19937_64 random_{99};
  std::map<std::pair<uint32_t, uint64_t>, ModelRow> model_;  // by table, key
};

TEST_P(EngineModelTest, AnswersLikeAMapThroughPullsPushesAndLoads) {
  std::unique_ptr<TestEngine> engine = NewEngine(GetParam());
  for (uint64_t op = 0; op < 120; ++op) {
    if (op % 2 == 0) PushSome(engine.get(), op);
    const Digest before = (*engine)->TotalDigest();
    PullSome(*engine);
    ASSERT_EQ((*engine)->TotalDigest(), before) << "a pull changes nothing";
    if (HasFatalFailure()) FAIL() << "operation " << op;
    if (op % 40 != 39) continue;
    CheckBlocks(*engine);
    // All blocks into another engine, of another number of shards: it goes on as if nothing had happened.
    const uint32_t shards = op % 80 == 39 ? 64 : GetParam();
    std::unique_ptr<TestEngine> loaded = NewEngine(shards);
    for (uint32_t shard = 0; shard < (*engine)->placement().num_shards(); ++shard) {
      ASSERT_OK((*engine)->ForEachBlock(shard, [&](uint32_t id, uint64_t key, absl::string_view block) {
        return (*loaded)->LoadBlock(Placement(shards).ShardOfKey(key), id, key, block);
      }));
    }
    ASSERT_EQ((*loaded)->TotalDigest(), before) << "the digest knows nothing of shards";
    engine = std::move(loaded);
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, EngineModelTest, ::testing::Values(1, 16, 256));

}  // namespace
}  // namespace rowan
