// DenseMerge: the gradients of dense blocks from several pushes, one mean a block.
//
// Sums are taken in the order of Add: ranks in rank order, then a push's own order, so that the bits of a sum do not
// depend on anything else. Not thread-safe; used for one step, then thrown away.
#ifndef ROWAN_SERVER_TABLE_DENSE_MERGE_H_
#define ROWAN_SERVER_TABLE_DENSE_MERGE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "common/data_plane.h"
#include "common/thread_pool.h"

namespace rowan {

class DenseMerge {
 public:
  struct Block {
    uint32_t shard;
    uint32_t dense;
    uint64_t block;
    std::vector<absl::Span<const float>> parts;  // the callers' memory
    std::vector<float> mean;                     // (size of the block): the sum of the parts, scaled
    bool finite = true;                          // all of `mean`
  };

  // The section's gradients must stay until Sum has returned. Gradients of a block have one size.
  void Add(const PushSection& section);
  // Makes the means, in the pool's threads. Call it once, after all Adds.
  void Sum(float scale, ThreadPool* pool);

  // After Sum: ascending by (shard, dense, block), each block once.
  absl::Span<const Block> blocks() const { return blocks_; }
  absl::Span<const Block> InShard(uint32_t shard) const;

 private:
  std::vector<Block> blocks_;
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, size_t> places_;  // (dense, block): index into blocks_
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_DENSE_MERGE_H_
