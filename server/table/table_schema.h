// TableSchema: a table's spec, checked and resolved to offsets, initializers and optimizers. Immutable, thread-safe.
#ifndef ROWAN_SERVER_TABLE_TABLE_SCHEMA_H_
#define ROWAN_SERVER_TABLE_TABLE_SCHEMA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/row_format.h"
#include "proto/table.pb.h"
#include "server/table/initializer.h"
#include "server/table/optimizer.h"

namespace rowan {

class TableSchema {
 public:
  // Checks everything in the spec. InvalidArgument names table, slice, field, value and range.
  // `seed`: the spec's own, or the job's derivation of it; never 0.
  static absl::StatusOr<TableSchema> Create(uint32_t id, const proto::TableSpec& spec, uint64_t seed);

  uint32_t id() const { return id_; }
  const proto::TableSpec& spec() const { return spec_; }
  const std::string& name() const { return spec_.name(); }

  int64_t width() const { return width_; }  // floats of values
  int64_t row_bytes() const { return kRowHeaderBytes + 4 * (width_ + state_width_); }

  // What a pull of a key without a row gives, (width).
  void FillAbsent(uint64_t key, float* values) const;
  // Writes a whole block for a key that is born: header, initial values, initial state.
  void InitBlock(uint64_t key, char* block) const;
  // One optimizer step. `gradient`: (width), mean over the step's samples, finite. Raises the update count.
  void UpdateBlock(const float* gradient, uint64_t step, char* block) const;

 private:
  struct ResolvedSlice {
    int64_t width;
    int64_t values_offset;  // floats from the start of the values
    int64_t state_offset;   // floats from the start of the state
    SliceInitializer initializer;
    SliceOptimizer optimizer;
  };

  TableSchema() = default;

  uint32_t id_ = 0;
  proto::TableSpec spec_;
  int64_t width_ = 0;
  int64_t state_width_ = 0;
  std::vector<ResolvedSlice> slices_;
};

// Returns OK if both specs have the same identity (see proto/table.proto), else FailedPrecondition naming the first
// difference: what exists and what was asked for.
absl::Status CheckSameIdentity(const proto::TableSpec& existing, const proto::TableSpec& asked);
absl::Status CheckSameIdentity(const proto::DenseSpec& existing, const proto::DenseSpec& asked);

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_TABLE_SCHEMA_H_
