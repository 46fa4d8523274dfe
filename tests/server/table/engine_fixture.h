// What tests of the shard engine share: specs, engines, and pushes that own their memory.
#ifndef ROWAN_TESTS_SERVER_TABLE_ENGINE_FIXTURE_H_
#define ROWAN_TESTS_SERVER_TABLE_ENGINE_FIXTURE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/data_plane.h"
#include "common/placement.h"
#include "common/thread_pool.h"
#include "glog/logging.h"
#include "proto/table.pb.h"
#include "server/table/shard_engine.h"

namespace rowan::testing {

// A table of one slice; values start uniform in [-1, 1).
inline proto::TableSpec TableOf(const std::string& name, uint32_t width, proto::Optimizer::Kind kind, float rate = 1) {
  proto::TableSpec spec;
  spec.set_name(name);
  proto::Slice* slice = spec.add_slices();
  slice->set_width(width);
  slice->mutable_initializer()->set_kind(proto::Initializer::UNIFORM);
  slice->mutable_initializer()->set_scale(1);
  slice->mutable_optimizer()->set_kind(kind);
  slice->mutable_optimizer()->set_learning_rate(rate);
  return spec;
}

inline proto::DenseSpec DenseOf(const std::string& name, uint64_t size, proto::Optimizer::Kind kind, float rate = 1) {
  proto::DenseSpec spec;
  spec.set_name(name);
  spec.set_size(size);
  spec.mutable_optimizer()->set_kind(kind);
  spec.mutable_optimizer()->set_learning_rate(rate);
  return spec;
}

struct RowGradients {
  uint32_t table;
  std::vector<uint64_t> keys;
  std::vector<float> gradients;  // (n, width)
};
struct DenseGradients {
  uint32_t dense;
  std::string name;
  std::vector<float> gradient;  // whole
};

// Sections by a std::map, row by row.
inline PushRequest MakePush(const Placement& placement, const std::vector<RowGradients>& rows,
                            const std::vector<DenseGradients>& dense = {}, double weight = 0,
                            RequestHeader header = {}) {
  struct Storage {
    std::map<std::pair<uint32_t, uint32_t>, RowGradients> parts;  // by shard, table
    std::vector<DenseGradients> dense;
  };
  const auto storage = std::make_shared<Storage>();
  for (const RowGradients& r : rows) {
    const size_t width = r.keys.empty() ? 0 : r.gradients.size() / r.keys.size();
    for (size_t i = 0; i < r.keys.size(); ++i) {
      RowGradients& part = storage->parts[{placement.ShardOfKey(r.keys[i]), r.table}];
      part.keys.push_back(r.keys[i]);
      part.gradients.insert(part.gradients.end(), r.gradients.begin() + i * width,
                            r.gradients.begin() + (i + 1) * width);
    }
  }
  storage->dense = dense;
  std::map<uint32_t, PushSection> sections;
  for (const auto& [place, part] : storage->parts) {
    sections[place.first].tables.push_back({place.second, part.keys, {}, part.gradients});
  }
  for (const DenseGradients& d : storage->dense) {
    for (int64_t block = 0; block < DenseBlocks(d.gradient.size()); ++block) {
      sections[placement.ShardOfDenseBlock(d.name, block)].dense.push_back(
          {d.dense, static_cast<uint64_t>(block),
           absl::MakeConstSpan(d.gradient).subspan(block * kDenseBlockFloats, kDenseBlockFloats)});
    }
  }
  PushRequest request;
  request.header = header;
  request.weight = weight;
  for (auto& [shard, section] : sections) {
    section.shard = shard;
    request.sections.push_back(std::move(section));
  }
  request.storage = storage;
  return request;
}

// An engine with its threads. Tables get ids from 1 on and the seed 11.
class TestEngine {
 public:
  explicit TestEngine(uint32_t shards, int threads = 2, ShardOwnership ownership = {})
      : pool_(threads), engine_(Placement(shards), &pool_, std::move(ownership)) {}

  uint32_t Add(const proto::TableSpec& spec) {
    CHECK(engine_.AddTable(*TableSchema::Create(++last_id_, spec, /*seed=*/11)).ok());
    return last_id_;
  }
  uint32_t Add(const proto::DenseSpec& spec) {
    CHECK(engine_.AddDense(*DenseSchema::Create(++last_id_, spec, /*seed=*/11)).ok());
    return last_id_;
  }
  std::vector<float> Pull(uint32_t table, const std::vector<uint64_t>& keys,
                          std::vector<Outcome>* outcomes = nullptr) const {
    std::vector<float> rows(keys.size() * (*engine_.Table(table))->width(), -77.0f);
    if (outcomes != nullptr) outcomes->assign(keys.size(), Outcome::kSpilled);
    const TablePull pull{table, keys, absl::MakeSpan(rows),
                         outcomes == nullptr ? absl::Span<Outcome>() : absl::MakeSpan(*outcomes)};
    const absl::Status status = engine_.Pull({pull}, {});
    CHECK(status.ok()) << status;
    return rows;
  }
  std::vector<float> PullDense(uint32_t id) const {
    const auto schema = *engine_.Dense(id);
    std::vector<float> values(schema->size(), -77.0f);
    std::vector<DensePull> pulls;
    for (int64_t block = 0; block < schema->blocks(); ++block) {
      pulls.push_back({id, static_cast<uint64_t>(block),
                       absl::MakeSpan(values).subspan(block * kDenseBlockFloats, kDenseBlockFloats)});
    }
    const absl::Status status = engine_.Pull({}, pulls);
    CHECK(status.ok()) << status;
    return values;
  }
  // Pushes as one step. Dies if the check refuses it.
  ApplyCounts Push(const std::vector<RowGradients>& rows, const std::vector<DenseGradients>& dense = {},
                   double weight = 0, uint64_t step = 0) {
    const PushRequest push = MakePush(engine_.placement(), rows, dense, weight);
    const absl::Status status = engine_.CheckPush(push);
    CHECK(status.ok()) << status;
    const PushRequest* const pushes[] = {&push};
    return engine_.ApplyStep(pushes, weight, step);
  }
  int64_t rows() const {
    int64_t rows = 0;
    for (const TableUsage& usage : engine_.Usage()) rows += usage.rows;
    return rows;
  }

  ShardEngine* operator->() { return &engine_; }
  const ShardEngine* operator->() const { return &engine_; }

 private:
  ThreadPool pool_;
  ShardEngine engine_;
  uint32_t last_id_ = 0;
};

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_SERVER_TABLE_ENGINE_FIXTURE_H_
