#include "server/coordinator/catalogue.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/hash.h"
#include "common/status_macros.h"
#include "glog/logging.h"
#include "server/table/dense_schema.h"
#include "server/table/table_schema.h"

namespace rowan {
namespace {

// The seed of a table or dense parameter that names none: never 0.
uint64_t DeriveSeed(uint64_t job_seed, uint64_t kind, const std::string& name) {
  return std::max<uint64_t>(1, Mix64(BytesHash(RandomBits(job_seed, kind), name)));
}

}  // namespace

absl::StatusOr<uint32_t> Catalogue::NewId() const {
  if (next_id_ <= kMaxId) return next_id_;
  return absl::FailedPreconditionError(absl::StrCat("the job has ", kMaxId, " tables already"));
}

Catalogue::Opening Catalogue::BeginEntry(Entry* entry) {
  const Opening opening = {entry->state, entry->table};
  if (entry->state == State::kTell) entry->state = State::kBusy;
  return opening;
}

Catalogue::Opening Catalogue::Add(Key key, proto::SnapshotTable table) {
  ++next_id_;
  Entry& entry = entries_[std::move(key)];
  entry = {State::kTell, std::move(table)};
  return BeginEntry(&entry);
}

absl::StatusOr<Catalogue::Opening> Catalogue::Begin(const proto::TableSpec& spec) {
  Key key(/*dense=*/false, spec.name());
  if (const auto existing = entries_.find(key); existing != entries_.end()) {
    ROWAN_RETURN_IF_ERROR(CheckSameIdentity(existing->second.table.table(), spec));
    return BeginEntry(&existing->second);
  }
  proto::SnapshotTable table;
  ROWAN_ASSIGN_OR_RETURN(const uint32_t id, NewId());
  table.set_id(id);
  *table.mutable_table() = spec;
  if (spec.seed() == 0) table.mutable_table()->set_seed(DeriveSeed(job_seed_, /*kind=*/0, spec.name()));
  ROWAN_RETURN_IF_ERROR(TableSchema::Create(id, table.table(), table.table().seed()).status());
  return Add(std::move(key), std::move(table));
}

absl::StatusOr<Catalogue::Opening> Catalogue::Begin(const proto::DenseSpec& spec) {
  Key key(/*dense=*/true, spec.name());
  if (const auto existing = entries_.find(key); existing != entries_.end()) {
    ROWAN_RETURN_IF_ERROR(CheckSameIdentity(existing->second.table.dense(), spec));
    return BeginEntry(&existing->second);
  }
  proto::SnapshotTable table;
  ROWAN_ASSIGN_OR_RETURN(const uint32_t id, NewId());
  table.set_id(id);
  *table.mutable_dense() = spec;
  if (spec.seed() == 0) table.mutable_dense()->set_seed(DeriveSeed(job_seed_, /*kind=*/1, spec.name()));
  ROWAN_RETURN_IF_ERROR(DenseSchema::Create(id, table.dense(), table.dense().seed()).status());
  return Add(std::move(key), std::move(table));
}

void Catalogue::End(uint32_t id, Told told) {
  const auto it =
      std::find_if(entries_.begin(), entries_.end(), [id](const auto& entry) { return entry.second.table.id() == id; });
  CHECK(it != entries_.end() && it->second.state == State::kBusy) << "table id " << id;
  it->second.state = told == Told::kAll ? State::kOpen : State::kTell;
  if (told == Told::kNone) entries_.erase(it);
}

void Catalogue::Adopt(const proto::SnapshotTable& table) {
  next_id_ = std::max(next_id_, table.id() + 1);
  Entry& entry = entries_[Key(table.has_dense(), table.has_dense() ? table.dense().name() : table.table().name())];
  entry = {State::kOpen, table};
  entry.table.clear_rows();
}

std::vector<proto::SnapshotTable> Catalogue::All() const {
  std::vector<proto::SnapshotTable> all;
  for (const auto& [key, entry] : entries_) all.push_back(entry.table);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id() < b.id(); });
  return all;
}

}  // namespace rowan
