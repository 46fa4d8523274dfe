// DenseSchema: a dense parameter's spec, checked and resolved. Its blocks are row blocks (common/row_format.h) whose key
// is the block number and whose width is the block's size. Immutable, thread-safe.
#ifndef ROWAN_SERVER_TABLE_DENSE_SCHEMA_H_
#define ROWAN_SERVER_TABLE_DENSE_SCHEMA_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/placement.h"
#include "common/row_format.h"
#include "proto/table.pb.h"
#include "server/table/initializer.h"
#include "server/table/optimizer.h"

namespace rowan {

class DenseSchema {
 public:
  // InvalidArgument names the parameter, field, value and range; ResourceExhausted, for more than 2^30 floats, too.
  // `seed` is the resolved one.
  static absl::StatusOr<DenseSchema> Create(uint32_t id, const proto::DenseSpec& spec, uint64_t seed);

  uint32_t id() const { return id_; }
  const proto::DenseSpec& spec() const { return spec_; }
  const std::string& name() const { return spec_.name(); }
  int64_t size() const { return static_cast<int64_t>(spec_.size()); }
  int64_t blocks() const { return DenseBlocks(size()); }
  int64_t BlockSize(int64_t block) const { return DenseBlockSize(size(), block); }
  int64_t BlockBytes(int64_t block) const;

  void InitBlock(int64_t block, char* bytes) const;
  // One optimizer step with a finite mean gradient, (BlockSize(block)).
  void UpdateBlock(int64_t block, const float* gradient, uint64_t step, char* bytes) const;

 private:
  DenseSchema(uint32_t id, const proto::DenseSpec& spec, SliceInitializer initializer, SliceOptimizer optimizer,
              SliceOptimizer last_optimizer)
      : id_(id),
        spec_(spec),
        initializer_(std::move(initializer)),
        optimizer_(std::move(optimizer)),
        last_optimizer_(std::move(last_optimizer)) {}

  const SliceOptimizer& OptimizerOf(int64_t block) const {
    return block + 1 == blocks() ? last_optimizer_ : optimizer_;
  }

  uint32_t id_;
  proto::DenseSpec spec_;
  SliceInitializer initializer_;
  SliceOptimizer optimizer_;       // of whole blocks
  SliceOptimizer last_optimizer_;  // of the last block, which may be shorter
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_DENSE_SCHEMA_H_
