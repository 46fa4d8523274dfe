#include "worker/client/push_builder.h"

#include <algorithm>
#include <cstring>

#include "common/hash.h"

namespace rowan {
namespace {

// The largest magnitude of the values; infinity or NaN if one of them is that.
float MaxMagnitude(absl::Span<const float> values) {
  // Without their signs, floats are ordered like the integers of the same bits, and NaN comes last.
  constexpr size_t kLanes = 16;
  int32_t max[kLanes] = {};
  const auto add = [&max](size_t lane, const float* value) {
    int32_t bits;
    std::memcpy(&bits, value, sizeof(bits));
    max[lane] = std::max(max[lane], bits & 0x7fffffff);
  };
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(lane, &values[i + lane]);
  }
  for (; i < values.size(); ++i) add(0, &values[i]);
  const int32_t bits = *std::max_element(max, max + kLanes);
  float magnitude;
  std::memcpy(&magnitude, &bits, sizeof(magnitude));
  return magnitude;
}

bool CanBeApplied(absl::Span<const float> gradient, double weight) {
  constexpr double kLimit = 0x1p100;
  const double magnitude = MaxMagnitude(gradient);
  return magnitude < kLimit && (!(weight > 0) || magnitude / weight < kLimit);
}

}  // namespace

std::shared_ptr<PushBuilder::Storage> PushBuilder::TakeStorage() {
  std::unique_ptr<Storage> storage;
  {
    MutexLock lock(&free_->mu);
    if (!free_->storages.empty()) {
      storage = std::move(free_->storages.back());
      free_->storages.pop_back();
    }
  }
  if (storage == nullptr) storage = std::make_unique<Storage>();
  return {storage.release(), [list = free_](Storage* used) {
            MutexLock lock(&list->mu);
            list->storages.emplace_back(used);
          }};
}

PushRequest PushBuilder::Build(absl::Span<const Rows> rows, absl::Span<const Dense> dense, double weight) {
  const uint32_t num_shards = placement_.num_shards();
  int64_t total_keys = 0;
  int64_t total_floats = 0;
  for (const Rows& r : rows) {
    total_keys += r.keys.size();
    total_floats += r.gradients.size();
  }
  for (const Dense& d : dense) total_floats += d.gradient.size();

  const std::shared_ptr<Storage> storage = TakeStorage();
  storage->keys.resize(total_keys);
  storage->occurrences.resize(total_keys);
  if (storage->gradients_capacity < total_floats) {
    storage->gradients.reset(new float[total_floats]);
    storage->gradients_capacity = total_floats;
  }

  PushRequest request;
  request.storage = storage;
  request.weight = weight;
  std::vector<PushSection> sections(num_shards);
  uint64_t* keys = storage->keys.data();
  uint32_t* occurrences = storage->occurrences.data();
  float* gradients = storage->gradients.get();
  std::vector<uint32_t> shards;
  std::vector<uint32_t> order;
  for (const Rows& r : rows) {
    const int64_t n = r.keys.size();
    std::vector<int64_t> starts(num_shards + 1, 0);
    shards.resize(n);
    order.resize(n);
    for (int64_t i = 0; i < n; ++i) ++starts[(shards[i] = placement_.ShardOfKey(r.keys[i])) + 1];
    for (uint32_t s = 0; s < num_shards; ++s) starts[s + 1] += starts[s];
    for (uint32_t s = 0; s < num_shards; ++s) {
      const int64_t count = starts[s + 1] - starts[s];
      if (count == 0) continue;
      sections[s].tables.push_back({r.table, absl::MakeConstSpan(keys + starts[s], count),
                                    absl::MakeConstSpan(occurrences + starts[s], count),
                                    absl::MakeConstSpan(gradients + starts[s] * r.width, count * r.width)});
    }
    std::vector<int64_t> next(starts.begin(), starts.end() - 1);
    for (int64_t i = 0; i < n; ++i) order[next[shards[i]]++] = static_cast<uint32_t>(i);
    const auto copy = [&](int64_t begin, int64_t end) {
      for (int64_t to = begin; to < end; ++to) {
        const int64_t from = order[to];
        keys[to] = r.keys[from];
        occurrences[to] = r.occurrences.empty() ? 1 : r.occurrences[from];
        std::memcpy(gradients + to * r.width, r.gradients.data() + from * r.width, r.width * sizeof(float));
      }
    };
    if (pool_ == nullptr) {
      copy(0, n);
    } else {
      const int64_t tasks = pool_->size() * 4;
      pool_->ParallelFor(tasks, [&](int64_t task) { copy(task * n / tasks, (task + 1) * n / tasks); });
    }
    keys += n;
    occurrences += n;
    gradients += n * r.width;
  }
  for (const Dense& d : dense) {
    const int64_t size = d.gradient.size();
    if (!CanBeApplied(d.gradient, weight)) request.refused_dense.push_back(d.dense);
    std::memcpy(gradients, d.gradient.data(), size * sizeof(float));
    for (int64_t block = 0; block < DenseBlocks(size); ++block) {
      sections[placement_.ShardOfDenseBlock(d.name, block)].dense.push_back(
          {d.dense, static_cast<uint64_t>(block),
           absl::MakeConstSpan(gradients + block * kDenseBlockFloats, DenseBlockSize(size, block))});
    }
    gradients += size;
  }
  std::sort(request.refused_dense.begin(), request.refused_dense.end());
  for (uint32_t s = 0; s < num_shards; ++s) {
    if (sections[s].tables.empty() && sections[s].dense.empty()) continue;
    sections[s].shard = s;
    request.sections.push_back(std::move(sections[s]));
  }
  return request;
}

}  // namespace rowan
