// Reading rows and dense blocks.
#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/table/shard_engine.h"

namespace rowan {

absl::Status ShardEngine::Pull(absl::Span<const TablePull> tables, absl::Span<const DensePull> dense) const {
  std::vector<std::shared_ptr<const TableSchema>> schemas;
  std::vector<std::shared_ptr<const DenseSchema>> dense_schemas;
  {
    SharedMutexLock lock(&catalog_mu_);
    for (const TablePull& pull : tables) {
      ROWAN_ASSIGN_OR_RETURN(const auto schema, TableLocked(pull.table));
      if (pull.keys.size() > kMaxKeys) {
        return absl::InvalidArgumentError(absl::StrCat("pull from table '", schema->name(), "': ", pull.keys.size(),
                                                       " keys, at most ", kMaxKeys, " at once"));
      }
      const size_t room = pull.rows.size() / schema->width();
      if (pull.rows.size() % schema->width() != 0 || (pull.places.empty() && room != pull.keys.size())) {
        return absl::InvalidArgumentError(absl::StrCat("pull from table '", schema->name(), "': ", pull.keys.size(),
                                                       " keys of width ", schema->width(), " need ",
                                                       pull.keys.size() * schema->width(), " floats, got room for ",
                                                       pull.rows.size()));
      }
      if (!pull.places.empty() &&
          (pull.places.size() != pull.keys.size() ||
           std::any_of(pull.places.begin(), pull.places.end(), [&](uint32_t place) { return place >= room; }))) {
        return absl::InvalidArgumentError(absl::StrCat("pull from table '", schema->name(), "': ", pull.keys.size(),
                                                       " keys, ", pull.places.size(), " places in room for ", room,
                                                       " rows"));
      }
      if (!pull.outcomes.empty() && pull.outcomes.size() != room) {
        return absl::InvalidArgumentError(absl::StrCat("pull from table '", schema->name(), "': ", pull.keys.size(),
                                                       " keys, ", pull.outcomes.size(), " outcomes"));
      }
      schemas.push_back(schema);
    }
  }
  for (const DensePull& pull : dense) {
    ROWAN_ASSIGN_OR_RETURN(const auto schema, Dense(pull.dense));
    if (pull.block >= static_cast<uint64_t>(schema->blocks()) ||
        static_cast<int64_t>(pull.values.size()) != schema->BlockSize(pull.block)) {
      return absl::InvalidArgumentError(absl::StrCat("pull of dense parameter '", schema->name(), "' block ",
                                                     pull.block, " into ", pull.values.size(), " floats: it has size ",
                                                     schema->size(), " in blocks of ", kDenseBlockFloats));
    }
    ROWAN_RETURN_IF_ERROR(CheckOwned(placement_.ShardOfDenseBlock(schema->name(), pull.block)));
    dense_schemas.push_back(schema);
  }
  std::vector<absl::Span<const uint64_t>> keys;
  for (const TablePull& pull : tables) keys.push_back(pull.keys);
  const KeyPlan plan(placement_, keys);
  for (uint32_t s = 0; s < placement_.num_shards(); ++s) {
    if (!Owns(s) && !plan.Shard(s).empty()) return CheckOwned(s);
  }
  PullRows(tables, schemas, plan);
  for (size_t i = 0; i < dense.size(); ++i) {
    const Shard& shard = shards_[placement_.ShardOfDenseBlock(dense_schemas[i]->name(), dense[i].block)];
    SharedMutexLock lock(&shard.mu);
    const DenseBlock& block = shard.dense.at({dense[i].dense, dense[i].block});
    std::memcpy(dense[i].values.data(), block.bytes.get() + kRowHeaderBytes, dense[i].values.size() * sizeof(float));
  }
  return absl::OkStatus();
}

// The locks of a wave are taken in ascending order and all released before the next wave: the analysis cannot follow
// locks in a loop.
void ShardEngine::PullRows(absl::Span<const TablePull> tables,
                           absl::Span<const std::shared_ptr<const TableSchema>> schemas,
                           const KeyPlan& plan) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const std::vector<KeyPlan::Wave> waves = plan.Waves();
  pool_->ParallelFor(waves.size(), [&](int64_t w) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const KeyPlan::Wave wave = waves[w];
    for (uint32_t s = wave.first_shard; s < wave.end_shard; ++s) shards_[s].mu.LockShared();
    const absl::Span<const KeyPlan::Entry> entries = plan.Shards(wave.first_shard, wave.end_shard);
    constexpr int64_t kBatch = ShardTable::kBatch;
    const ShardTable* in_shard[kBatch];  // null where the shard has no row of the table
    for (size_t begin = 0; begin < entries.size(); begin += kBatch) {
      const absl::Span<const KeyPlan::Entry> batch = entries.subspan(begin, kBatch);
      for (size_t i = 0; i < batch.size(); ++i) {
        const Shard& shard = shards_[placement_.ShardOfHash(batch[i].hash)];
        const uint32_t id = schemas[batch[i].table]->id();
        in_shard[i] = id < shard.tables.size() ? shard.tables[id].get() : nullptr;
        if (in_shard[i] != nullptr) in_shard[i]->Prefetch(batch[i].hash);
      }
      for (size_t i = 0; i < batch.size(); ++i) {
        const char* guess = in_shard[i] == nullptr ? nullptr : in_shard[i]->Guess(batch[i].hash);
        if (guess != nullptr) PrefetchBlock</*kToWrite=*/false>(guess, kRowHeaderBytes + 4 * schemas[batch[i].table]->width());
      }
      for (size_t i = 0; i < batch.size(); ++i) {
        const KeyPlan::Entry entry = batch[i];
        const TablePull& pull = tables[entry.table];
        const int64_t width = schemas[entry.table]->width();
        const uint64_t key = pull.keys[entry.key];
        const int64_t place = pull.places.empty() ? entry.key : pull.places[entry.key];
        float* const row = pull.rows.data() + place * width;
        const char* const block = in_shard[i] == nullptr ? nullptr : in_shard[i]->Find(entry.hash, key);
        if (block != nullptr) {
          std::memcpy(row, block + kRowHeaderBytes, width * sizeof(float));
        } else {
          schemas[entry.table]->FillAbsent(key, row);
        }
        if (!pull.outcomes.empty()) pull.outcomes[place] = block != nullptr ? Outcome::kFound : Outcome::kAbsent;
      }
    }
    for (uint32_t s = wave.end_shard; s > wave.first_shard; --s) shards_[s - 1].mu.UnlockShared();
  });
}

}  // namespace rowan
