// How fast one thread reads rows, against a hash map that a user would write.
//
// Prints `lookup_vs_map RATIO`: rows/s of ShardEngine::Pull over rows/s of an absl::flat_hash_map (reserved, same hash)
// from key to row number with a memcpy loop, both over the same table (4 M rows of 64 floats by default), 4096 new
// keys a call. The two take turns; the figure is the median of the pairs' ratios.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/hash.h"
#include "common/thread_pool.h"
#include "glog/logging.h"
#include "server/table/shard_engine.h"

namespace rowan {
namespace {

constexpr int64_t kWidth = 64;
constexpr int64_t kBatch = 4096;
constexpr int kCallsPerTurn = 100;
constexpr int kTurns = 15;

struct SameHash {
  size_t operator()(uint64_t key) const { return KeyHash(key); }
};

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int Run(int64_t rows) {
  ThreadPool pool(1);
  ShardEngine engine(Placement(256), &pool);
  proto::TableSpec spec;
  spec.set_name("t");
  spec.add_slices()->set_width(kWidth);
  spec.mutable_slices(0)->mutable_initializer()->set_kind(proto::Initializer::UNIFORM);
  spec.mutable_slices(0)->mutable_initializer()->set_scale(0.01f);
  CHECK(engine.AddTable(*TableSchema::Create(1, spec, 7)).ok());
  const auto schema = *engine.Table(1);
  std::vector<char> block(schema->row_bytes());
  absl::flat_hash_map<uint64_t, int64_t, SameHash> map;
  map.reserve(rows);
  std::vector<float> values(rows * kWidth);
  for (int64_t i = 0; i < rows; ++i) {
    const uint64_t key = Mix64(i);
    schema->InitBlock(key, block.data());
    CHECK(engine.LoadBlock(engine.placement().ShardOfKey(key), 1, key, {block.data(), block.size()}).ok());
    map[key] = i;
    std::memcpy(&values[i * kWidth], block.data() + kRowHeaderBytes, kWidth * sizeof(float));
  }

  std::vector<uint64_t> keys(kBatch);
  std::vector<float> ours(kBatch * kWidth);
  std::vector<float> theirs(kBatch * kWidth);
  std::vector<double> ratios, our_rates, their_rates;
  uint64_t draw = 0;
  const auto new_keys = [&] {
    for (uint64_t& key : keys) key = Mix64(RandomBits(1, draw++) % rows);
  };
  for (int turn = 0; turn < kTurns; ++turn) {
    double our_seconds = 0, their_seconds = 0;
    for (int call = 0; call < kCallsPerTurn; ++call) {
      new_keys();
      double start = Seconds();
      CHECK(engine.Pull({{1, keys, absl::MakeSpan(ours), {}}}, {}).ok());
      our_seconds += Seconds() - start;
      new_keys();
      start = Seconds();
      for (int64_t i = 0; i < kBatch; ++i) {
        const auto it = map.find(keys[i]);
        if (it != map.end()) std::memcpy(&theirs[i * kWidth], &values[it->second * kWidth], kWidth * sizeof(float));
      }
      their_seconds += Seconds() - start;
    }
    // The same keys through both, once a turn: equal rows.
    CHECK(engine.Pull({{1, keys, absl::MakeSpan(ours), {}}}, {}).ok());
    CHECK(ours == theirs);
    our_rates.push_back(kBatch * kCallsPerTurn / our_seconds);
    their_rates.push_back(kBatch * kCallsPerTurn / their_seconds);
    ratios.push_back(our_rates.back() / their_rates.back());
  }
  for (auto* figures : {&ratios, &our_rates, &their_rates}) std::sort(figures->begin(), figures->end());
  std::fprintf(stderr, "%ld rows: %.1f M rows/s, map %.1f M rows/s; ratios %.2f to %.2f\n", static_cast<long>(rows),
               our_rates[kTurns / 2] / 1e6, their_rates[kTurns / 2] / 1e6, ratios.front(), ratios.back());
  std::printf("lookup_vs_map %.2f\n", ratios[kTurns / 2]);
  return 0;
}

}  // namespace
}  // namespace rowan

int main(int argc, char** argv) { return rowan::Run(argc > 1 ? std::atoll(argv[1]) : 4'000'000); }
