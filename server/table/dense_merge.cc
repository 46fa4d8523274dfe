#include "server/table/dense_merge.h"

#include <algorithm>
#include <tuple>

#include "server/table/vector_ops.h"

namespace rowan {

void DenseMerge::Add(const PushSection& section) {
  for (const DenseGradient& gradient : section.dense) {
    const auto [place, is_new] = places_.try_emplace({gradient.dense, gradient.block}, blocks_.size());
    if (is_new) blocks_.push_back({section.shard, gradient.dense, gradient.block, {}, {}, true});
    blocks_[place->second].parts.push_back(gradient.gradient);
  }
}

void DenseMerge::Sum(float scale, ThreadPool* pool) {
  std::sort(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) {
    return std::tie(a.shard, a.dense, a.block) < std::tie(b.shard, b.dense, b.block);
  });
  places_.clear();
  pool->ParallelFor(static_cast<int64_t>(blocks_.size()), [&](int64_t i) {
    Block& block = blocks_[i];
    block.mean.assign(block.parts[0].begin(), block.parts[0].end());
    for (size_t part = 1; part < block.parts.size(); ++part) {
      AddTo(block.parts[part].data(), static_cast<int64_t>(block.parts[part].size()), block.mean.data());
    }
    block.finite = ScaleAll(block.mean.data(), scale, static_cast<int64_t>(block.mean.size()), block.mean.data());
  });
}

absl::Span<const DenseMerge::Block> DenseMerge::InShard(uint32_t shard) const {
  const auto first = std::lower_bound(blocks_.begin(), blocks_.end(), shard,
                                      [](const Block& block, uint32_t s) { return block.shard < s; });
  const auto end =
      std::upper_bound(first, blocks_.end(), shard, [](uint32_t s, const Block& block) { return s < block.shard; });
  return {blocks_.data() + (first - blocks_.begin()), static_cast<size_t>(end - first)};
}

}  // namespace rowan
