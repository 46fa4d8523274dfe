// ShardEngine: all rows and dense blocks of one server, in shards.
//
// A server owns some of the job's shards. Requests that concern another one are refused as a whole, naming it
// (Unavailable: ask for the shard map again); what is said of all shards below covers the owned ones.
//
// A shard is a lock over its part of every table, its blocks of dense parameters and its deduplication windows. Reading
// takes the lock shared, pushing exclusively; no lock is held over I/O. Several shards' locks are taken together only
// for reading and in ascending order.
//
// The engine applies what it is given at once; when a push may be applied is the business of server/service.
// Thread-safe. Lock order: shard locks, then catalog_mu_.
#ifndef ROWAN_SERVER_TABLE_SHARD_ENGINE_H_
#define ROWAN_SERVER_TABLE_SHARD_ENGINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "common/data_plane.h"
#include "common/digest.h"
#include "common/mutex.h"
#include "common/placement.h"
#include "common/thread_pool.h"
#include "proto/snapshot.pb.h"
#include "server/table/chunk_pool.h"
#include "server/table/dense_merge.h"
#include "server/table/dense_schema.h"
#include "server/table/key_plan.h"
#include "server/table/push_window.h"
#include "server/table/shard_table.h"
#include "server/table/table_schema.h"

namespace rowan {

struct RefusedRow {
  uint32_t table = 0;
  uint64_t key = 0;
};

struct ApplyCounts {
  int64_t updated_rows = 0;  // born ones included
  int64_t born_rows = 0;
  int64_t refused_rows = 0;  // the gradient had NaN or infinity
  // Dense parameters whose whole update was refused. Of those that the push names, the ones whose first block is here:
  // so the sum over all servers counts each once.
  int64_t refused_dense = 0;
  absl::optional<RefusedRow> first_row;  // one of the refused rows
  absl::optional<uint32_t> first_dense;  // the lowest id of the refused dense parameters

  ApplyCounts& operator+=(const ApplyCounts& other);
};

struct TableUsage {
  uint32_t id = 0;
  int64_t rows = 0;
  int64_t block_bytes = 0;  // memory held for blocks
  int64_t index_bytes = 0;
};

// The shards that a server holds, by some version of the shard map.
struct ShardOwnership {
  uint64_t map_version = 1;
  std::vector<bool> owned = {};  // (num_shards), or empty: all
};

class ShardEngine {
 public:
  // Requests are spread over `pool`, which outlives the engine. REQUIRES: `ownership` fits the placement.
  ShardEngine(Placement placement, ThreadPool* pool, ShardOwnership ownership = {});
  ~ShardEngine();
  ShardEngine(const ShardEngine&) = delete;
  ShardEngine& operator=(const ShardEngine&) = delete;

  const Placement& placement() const { return placement_; }
  bool Owns(uint32_t shard) const { return ownership_.owned.empty() || ownership_.owned[shard]; }

  // AlreadyExists if the id is taken, InvalidArgument if it is kMaxTableId or more: ids are shared by tables and dense
  // parameters, and small.
  static constexpr uint32_t kMaxTableId = 65536;
  absl::Status AddTable(TableSchema schema) ABSL_LOCKS_EXCLUDED(catalog_mu_);
  absl::Status AddDense(DenseSchema schema) ABSL_LOCKS_EXCLUDED(catalog_mu_);

  // NotFound names the id.
  absl::StatusOr<std::shared_ptr<const TableSchema>> Table(uint32_t id) const ABSL_LOCKS_EXCLUDED(catalog_mu_);
  absl::StatusOr<std::shared_ptr<const DenseSchema>> Dense(uint32_t id) const ABSL_LOCKS_EXCLUDED(catalog_mu_);
  std::vector<std::shared_ptr<const TableSchema>> Tables() const ABSL_LOCKS_EXCLUDED(catalog_mu_);
  std::vector<std::shared_ptr<const DenseSchema>> DenseParameters() const ABSL_LOCKS_EXCLUDED(catalog_mu_);

  // Of one table in a pull, and of all tables in a push.
  static constexpr size_t kMaxKeys = size_t{1} << 31;

  // Reads rows and blocks; changes nothing. Checks everything before it writes anything: unknown table, too many
  // keys, sizes that do not fit the width (InvalidArgument naming them), a shard that is not owned (Unavailable naming it).
  absl::Status Pull(absl::Span<const TablePull> tables, absl::Span<const DensePull> dense) const;

  // Returns OK if Apply would accept the push: tables, widths, sizes, shards of keys and blocks. Wrong ones:
  // InvalidArgument or NotFound naming section, table and what was seen. A shard that is not owned: Unavailable.
  absl::Status CheckPush(const PushRequest& push) const;

  // Applies one step: gradients of all pushes summed in the order given, times 1 / weight (0: times 1), one update a
  // row and dense block. REQUIRES: CheckPush accepted each push.
  ApplyCounts ApplyStep(absl::Span<const PushRequest* const> pushes, double weight, uint64_t step);

  // Applies one push, section by section, each exactly once for (rank, number): a section seen before is a duplicate.
  // `outcomes`: one a section. OutOfRange, with no outcomes, if the number lies so far below the rank's newest that it
  // cannot be told: with nothing applied, unless the rank's newer pushes came while this one was being applied; then
  // sections may stay applied. `counts` says what was applied either way. REQUIRES: CheckPush accepted it.
  absl::Status ApplyOnce(const PushRequest& push, std::vector<SectionOutcome>* outcomes, ApplyCounts* counts);

  // The model digest (common/digest.h), of one shard and of all. REQUIRES: no push is being applied.
  Digest ShardDigest(uint32_t shard) const;
  Digest TotalDigest() const;

  std::vector<TableUsage> Usage() const;
  // Of one shard: tables that have rows in it, and dense parameters with their blocks there for rows, by id.
  std::vector<TableUsage> ShardUsage(uint32_t shard) const;
  // Memory taken from the system for row chunks.
  int64_t reserved_bytes() const { return chunks_.reserved_bytes(); }

  // Every row and dense block of a shard, ascending by (id, key). They are copied under the shard's lock and visited
  // without it: `visit` may write to disk. Stops at the first error and returns it.
  absl::Status ForEachBlock(
      uint32_t shard, absl::FunctionRef<absl::Status(uint32_t id, uint64_t key, absl::string_view block)> visit) const;
  // Puts a stored block back. InvalidArgument if it does not fit its table or shard; AlreadyExists for a row twice;
  // Unavailable if the shard is not owned.
  absl::Status LoadBlock(uint32_t shard, uint32_t id, uint64_t key, absl::string_view block);

  proto::ShardState State(uint32_t shard) const;
  // REQUIRES: the shard is owned.
  void LoadState(uint32_t shard, const proto::ShardState& state);

 private:
  struct DenseBlock {
    std::shared_ptr<const DenseSchema> schema;
    int64_t block;
    std::unique_ptr<char[]> bytes;
  };

  struct Shard {
    mutable Mutex mu;
    std::vector<std::unique_ptr<ShardTable>> tables ABSL_GUARDED_BY(mu);  // by id; null until a row is born
    absl::flat_hash_map<std::pair<uint32_t, uint64_t>, DenseBlock> dense ABSL_GUARDED_BY(mu);
    absl::flat_hash_map<uint32_t, PushWindow> windows ABSL_GUARDED_BY(mu);  // by rank
  };

  struct Catalog {
    std::vector<std::shared_ptr<const TableSchema>> tables;  // by id, null where there is none
    std::vector<std::shared_ptr<const DenseSchema>> dense;
  };
  // What one task needs again and again.
  struct Scratch;

  absl::StatusOr<std::shared_ptr<const TableSchema>> TableLocked(uint32_t id) const
      ABSL_SHARED_LOCKS_REQUIRED(catalog_mu_);
  absl::Status CheckOwned(uint32_t shard) const;
  void PullRows(absl::Span<const TablePull> tables, absl::Span<const std::shared_ptr<const TableSchema>> schemas,
                const KeyPlan& plan) const;
  ShardTable* TableIn(Shard* shard, const std::shared_ptr<const TableSchema>& schema)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard->mu);
  // Dense parameters to refuse as a whole, ascending: those that a push names, and those whose mean gradient is not
  // finite in some block here. `counted`: how many of them this server counts.
  std::vector<uint32_t> RefusedDense(absl::Span<const PushRequest* const> pushes, const DenseMerge& merge,
                                     int64_t* counted) const;
  void ApplySections(Shard* shard, absl::Span<const PushSection* const> sections,
                     absl::Span<const DenseMerge::Block> dense, absl::Span<const uint32_t> refused_dense, float scale,
                     uint64_t step, Scratch* scratch, ApplyCounts* counts)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard->mu);
  void ApplyRows(ShardTable* table, float scale, uint64_t step, Scratch* scratch, ApplyCounts* counts);

  const Placement placement_;
  const ShardOwnership ownership_;
  ThreadPool* const pool_;
  ChunkPool chunks_;
  mutable Mutex catalog_mu_;
  Catalog catalog_ ABSL_GUARDED_BY(catalog_mu_);
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_SHARD_ENGINE_H_
