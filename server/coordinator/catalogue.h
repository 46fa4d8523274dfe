// Catalogue: the tables and dense parameters of a job, with their ids and seeds. Not thread-safe.
//
// An entry has its id and resolved spec from the moment that its opening begins. Whoever began it tells the servers,
// holding no lock, and ends the opening; meanwhile it is busy for others. An opening that failed half-way
// leaves the entry: the next one tells the servers again, under the same id, so that no server ever knows a table
// twice. Ids count up from 1, over tables and dense parameters together.
#ifndef ROWAN_SERVER_COORDINATOR_CATALOGUE_H_
#define ROWAN_SERVER_COORDINATOR_CATALOGUE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/snapshot.pb.h"
#include "proto/table.pb.h"

namespace rowan {

class Catalogue {
 public:
  static constexpr uint32_t kMaxId = 65535;

  explicit Catalogue(uint64_t job_seed) : job_seed_(job_seed) {}

  enum class State {
    kOpen,  // all servers know it
    kBusy,  // somebody is telling them: ask again later
    kTell,  // the caller is to tell them now, and to call End
  };
  struct Opening {
    State state;
    proto::SnapshotTable table;  // id and spec, with its seed; no rows
  };
  // InvalidArgument for a spec that is none, FailedPrecondition if it exists with another identity or if there are
  // kMaxId tables. Nothing has changed then.
  absl::StatusOr<Opening> Begin(const proto::TableSpec& spec);
  absl::StatusOr<Opening> Begin(const proto::DenseSpec& spec);
  enum class Told {
    kAll,   // all servers know it: it is open
    kSome,  // perhaps: it stays, not open
    kNone,  // none does: it is forgotten
  };
  // REQUIRES: Begin returned kTell for `id`, and End was not called since.
  void End(uint32_t id, Told told);

  // Takes in a table of a snapshot, which all servers know, under its id.
  void Adopt(const proto::SnapshotTable& table);

  // All entries by id, busy ones too.
  std::vector<proto::SnapshotTable> All() const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    State state;
    proto::SnapshotTable table;
  };
  using Key = std::pair<bool, std::string>;  // dense, name

  Opening BeginEntry(Entry* entry);
  absl::StatusOr<uint32_t> NewId() const;
  Opening Add(Key key, proto::SnapshotTable table);

  const uint64_t job_seed_;
  uint32_t next_id_ = 1;
  std::map<Key, Entry> entries_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_COORDINATOR_CATALOGUE_H_
