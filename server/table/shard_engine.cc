// The engine's catalog and whole-shard operations; reading requests are in shard_pull.cc, pushes in shard_apply.cc.
#include "server/table/shard_engine.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "glog/logging.h"

namespace rowan {

namespace {

absl::Status CheckId(uint32_t id) {
  if (id < ShardEngine::kMaxTableId) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("table id ", id, ": must be below ", ShardEngine::kMaxTableId));
}

}  // namespace

ApplyCounts& ApplyCounts::operator+=(const ApplyCounts& other) {
  updated_rows += other.updated_rows;
  born_rows += other.born_rows;
  refused_rows += other.refused_rows;
  refused_dense += other.refused_dense;
  if (!first_row.has_value()) first_row = other.first_row;
  if (!first_dense.has_value()) first_dense = other.first_dense;
  return *this;
}

ShardEngine::ShardEngine(Placement placement, ThreadPool* pool, ShardOwnership ownership)
    : placement_(placement), ownership_(std::move(ownership)), pool_(pool), shards_(new Shard[placement.num_shards()]) {
  CHECK(ownership_.owned.empty() || ownership_.owned.size() == placement.num_shards());
}

ShardEngine::~ShardEngine() = default;

absl::Status ShardEngine::CheckOwned(uint32_t shard) const {
  if (Owns(shard)) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("shard ", shard, " is not on this server, map version ", ownership_.map_version));
}

absl::Status ShardEngine::AddTable(TableSchema schema) {
  const uint32_t id = schema.id();
  ROWAN_RETURN_IF_ERROR(CheckId(id));
  MutexLock lock(&catalog_mu_);
  const size_t size = std::max<size_t>(id + 1, catalog_.tables.size());
  catalog_.tables.resize(size);
  catalog_.dense.resize(size);
  if (catalog_.tables[id] != nullptr || catalog_.dense[id] != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat("table id ", id, " is taken"));
  }
  catalog_.tables[id] = std::make_shared<const TableSchema>(std::move(schema));
  return absl::OkStatus();
}

absl::Status ShardEngine::AddDense(DenseSchema dense) {
  const auto schema = std::make_shared<const DenseSchema>(std::move(dense));
  const uint32_t id = schema->id();
  ROWAN_RETURN_IF_ERROR(CheckId(id));
  {
    MutexLock lock(&catalog_mu_);
    const size_t size = std::max<size_t>(id + 1, catalog_.tables.size());
    catalog_.tables.resize(size);
    catalog_.dense.resize(size);
    if (catalog_.tables[id] != nullptr || catalog_.dense[id] != nullptr) {
      return absl::AlreadyExistsError(absl::StrCat("table id ", id, " is taken"));
    }
  }
  for (int64_t block = 0; block < schema->blocks(); ++block) {
    const uint32_t index = placement_.ShardOfDenseBlock(schema->name(), block);
    if (!Owns(index)) continue;
    DenseBlock made{schema, block, std::unique_ptr<char[]>(new char[schema->BlockBytes(block)])};
    schema->InitBlock(block, made.bytes.get());
    Shard& shard = shards_[index];
    MutexLock lock(&shard.mu);
    shard.dense[{id, block}] = std::move(made);
  }
  MutexLock lock(&catalog_mu_);
  catalog_.dense[id] = schema;  // Known only now that all its blocks are there.
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const TableSchema>> ShardEngine::TableLocked(uint32_t id) const {
  if (id < catalog_.tables.size() && catalog_.tables[id] != nullptr) return catalog_.tables[id];
  return absl::NotFoundError(absl::StrCat("no table has id ", id));
}

absl::StatusOr<std::shared_ptr<const TableSchema>> ShardEngine::Table(uint32_t id) const {
  SharedMutexLock lock(&catalog_mu_);
  return TableLocked(id);
}

absl::StatusOr<std::shared_ptr<const DenseSchema>> ShardEngine::Dense(uint32_t id) const {
  SharedMutexLock lock(&catalog_mu_);
  if (id < catalog_.dense.size() && catalog_.dense[id] != nullptr) return catalog_.dense[id];
  return absl::NotFoundError(absl::StrCat("no dense parameter has id ", id));
}

std::vector<std::shared_ptr<const TableSchema>> ShardEngine::Tables() const {
  SharedMutexLock lock(&catalog_mu_);
  std::vector<std::shared_ptr<const TableSchema>> tables;
  for (const auto& table : catalog_.tables) {
    if (table != nullptr) tables.push_back(table);
  }
  return tables;
}

std::vector<std::shared_ptr<const DenseSchema>> ShardEngine::DenseParameters() const {
  SharedMutexLock lock(&catalog_mu_);
  std::vector<std::shared_ptr<const DenseSchema>> dense;
  for (const auto& parameter : catalog_.dense) {
    if (parameter != nullptr) dense.push_back(parameter);
  }
  return dense;
}

ShardTable* ShardEngine::TableIn(Shard* shard, const std::shared_ptr<const TableSchema>& schema) {
  const uint32_t id = schema->id();
  if (shard->tables.size() <= id) shard->tables.resize(id + 1);
  if (shard->tables[id] == nullptr) {
    shard->tables[id] = std::make_unique<ShardTable>(schema, placement_, &chunks_);
  }
  return shard->tables[id].get();
}

Digest ShardEngine::ShardDigest(uint32_t index) const {
  const Shard& shard = shards_[index];
  SharedMutexLock lock(&shard.mu);
  Digest digest;
  for (const auto& table : shard.tables) {
    if (table == nullptr) continue;
    const DigestTable identity(DigestTable::Kind::kTable, table->schema().name());
    const int64_t bytes = table->schema().row_bytes();
    table->ForEach([&](const char* block) { digest.AddRow(identity, block, bytes); });
  }
  for (const auto& [id, block] : shard.dense) {
    const DigestTable identity(DigestTable::Kind::kDense, block.schema->name());
    digest.AddRow(identity, block.bytes.get(), block.schema->BlockBytes(block.block));
  }
  return digest;
}

Digest ShardEngine::TotalDigest() const {
  std::vector<Digest> digests(placement_.num_shards());
  pool_->ParallelFor(placement_.num_shards(), [&](int64_t shard) { digests[shard] = ShardDigest(shard); });
  Digest total;
  for (const Digest& digest : digests) total.Add(digest);
  return total;
}

std::vector<TableUsage> ShardEngine::ShardUsage(uint32_t index) const {
  std::map<uint32_t, TableUsage> by_id;
  const Shard& shard = shards_[index];
  SharedMutexLock lock(&shard.mu);
  for (const auto& table : shard.tables) {
    if (table == nullptr) continue;
    const uint32_t id = table->schema().id();
    by_id[id] = {id, table->rows(), table->block_bytes(), table->index_bytes()};
  }
  for (const auto& [id, block] : shard.dense) {
    TableUsage& usage = by_id[id.first];
    usage.id = id.first;
    ++usage.rows;
    usage.block_bytes += block.schema->BlockBytes(block.block);
  }
  std::vector<TableUsage> usage;
  for (const auto& [id, of_table] : by_id) usage.push_back(of_table);
  return usage;
}

std::vector<TableUsage> ShardEngine::Usage() const {
  std::vector<TableUsage> usage;
  absl::flat_hash_map<uint32_t, size_t> places;
  for (const auto& table : Tables()) {
    places[table->id()] = usage.size();
    usage.push_back({table->id(), 0, 0, 0});
  }
  for (uint32_t s = 0; s < placement_.num_shards(); ++s) {
    SharedMutexLock lock(&shards_[s].mu);
    for (const auto& table : shards_[s].tables) {
      if (table == nullptr) continue;
      const auto place = places.find(table->schema().id());
      if (place == places.end()) continue;  // Added since.
      TableUsage& sum = usage[place->second];
      sum.rows += table->rows();
      sum.block_bytes += table->block_bytes();
      sum.index_bytes += table->index_bytes();
    }
  }
  return usage;
}

absl::Status ShardEngine::ForEachBlock(
    uint32_t index, absl::FunctionRef<absl::Status(uint32_t, uint64_t, absl::string_view)> visit) const {
  struct Item {
    uint32_t id;
    uint64_t key;
    int64_t offset;
    int64_t bytes;
  };
  std::vector<Item> items;
  std::string blocks;
  {
    const Shard& shard = shards_[index];
    SharedMutexLock lock(&shard.mu);
    int64_t total = 0;
    for (const auto& table : shard.tables) total += table == nullptr ? 0 : table->rows() * table->schema().row_bytes();
    for (const auto& [id, block] : shard.dense) total += block.schema->BlockBytes(block.block);
    blocks.reserve(total);
    const auto add = [&](uint32_t id, const char* block, int64_t bytes) {
      items.push_back({id, LoadRowKey(block), static_cast<int64_t>(blocks.size()), bytes});
      blocks.append(block, bytes);
    };
    for (const auto& table : shard.tables) {
      if (table == nullptr) continue;
      table->ForEach([&](const char* block) { add(table->schema().id(), block, table->schema().row_bytes()); });
    }
    for (const auto& [id, block] : shard.dense) add(id.first, block.bytes.get(), block.schema->BlockBytes(block.block));
  }
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return std::tie(a.id, a.key) < std::tie(b.id, b.key); });
  for (const Item& item : items) {
    ROWAN_RETURN_IF_ERROR(visit(item.id, item.key, absl::string_view(blocks).substr(item.offset, item.bytes)));
  }
  return absl::OkStatus();
}

absl::Status ShardEngine::LoadBlock(uint32_t index, uint32_t id, uint64_t key, absl::string_view block) {
  const auto fits = [&](int64_t bytes, uint32_t shard, absl::string_view name) {
    if (static_cast<int64_t>(block.size()) != bytes || LoadRowKey(block.data()) != key) {
      return absl::InvalidArgumentError(absl::StrCat("key ", key, " of '", name, "' has a block of ", block.size(),
                                                     " bytes, must be ", bytes, " bytes that begin with the key"));
    }
    if (shard != index) {
      return absl::InvalidArgumentError(
          absl::StrCat("key ", key, " of '", name, "' belongs to shard ", shard, ", not ", index));
    }
    return absl::OkStatus();
  };
  ROWAN_RETURN_IF_ERROR(CheckOwned(index));
  Shard& shard = shards_[index];
  if (const auto table = Table(id); table.ok()) {
    const TableSchema& schema = **table;
    ROWAN_RETURN_IF_ERROR(fits(schema.row_bytes(), placement_.ShardOfKey(key), schema.name()));
    MutexLock lock(&shard.mu);
    ShardTable* const rows = TableIn(&shard, *table);
    if (rows->Find(KeyHash(key), key) != nullptr) {
      return absl::AlreadyExistsError(absl::StrCat("key ", key, " of '", schema.name(), "' comes twice"));
    }
    rows->Load(block.data());
    return absl::OkStatus();
  }
  ROWAN_ASSIGN_OR_RETURN(const auto dense, Dense(id));
  if (key >= static_cast<uint64_t>(dense->blocks())) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", dense->name(), "' has ", dense->blocks(), " blocks, block ", key, " is not one of them"));
  }
  ROWAN_RETURN_IF_ERROR(fits(dense->BlockBytes(key), placement_.ShardOfDenseBlock(dense->name(), key), dense->name()));
  MutexLock lock(&shard.mu);
  std::memcpy(shard.dense.at({id, key}).bytes.get(), block.data(), block.size());
  return absl::OkStatus();
}

proto::ShardState ShardEngine::State(uint32_t index) const {
  const Shard& shard = shards_[index];
  SharedMutexLock lock(&shard.mu);
  std::vector<uint32_t> ranks;
  for (const auto& [rank, window] : shard.windows) ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end());
  proto::ShardState state;
  for (const uint32_t rank : ranks) {
    const PushWindow& window = shard.windows.at(rank);
    proto::ShardState::Window* stored = state.add_windows();
    stored->set_rank(rank);
    stored->set_highest(window.highest());
    stored->set_seen(window.seen());
  }
  return state;
}

void ShardEngine::LoadState(uint32_t index, const proto::ShardState& state) {
  CHECK(Owns(index)) << "shard " << index;
  Shard& shard = shards_[index];
  MutexLock lock(&shard.mu);
  shard.windows.clear();
  for (const auto& window : state.windows()) {
    shard.windows[window.rank()] = PushWindow(window.highest(), window.seen());
  }
}

}  // namespace rowan
