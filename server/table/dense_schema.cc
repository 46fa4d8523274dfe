#include "server/table/dense_schema.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/table/catalog_name.h"

namespace rowan {
namespace {

// 4 GiB of values: far more than a worker, which holds all of it, has use for, and less than a server lacks at once.
constexpr uint64_t kMaxDenseSize = uint64_t{1} << 30;

}  // namespace

absl::StatusOr<DenseSchema> DenseSchema::Create(uint32_t id, const proto::DenseSpec& spec, uint64_t seed) {
  ROWAN_RETURN_IF_ERROR(CheckCatalogName("a dense parameter", spec.name()));
  const std::string what = absl::StrCat("dense parameter '", absl::CEscape(spec.name()), "'");
  if (spec.size() < 1) return absl::InvalidArgumentError(absl::StrCat(what, " has size 0, must be 1 or more"));
  if (spec.size() > kMaxDenseSize) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, " has size ", spec.size(), ", must be ", kMaxDenseSize, " floats or less"));
  }
  proto::DenseSpec resolved = spec;
  resolved.set_seed(seed);
  const int64_t size = static_cast<int64_t>(spec.size());
  absl::StatusOr<SliceInitializer> initializer =
      SliceInitializer::Create(spec.initializer(), seed, /*slice_index=*/0, std::min(size, kDenseBlockFloats));
  absl::StatusOr<SliceOptimizer> optimizer = SliceOptimizer::Create(spec.optimizer(), std::min(size, kDenseBlockFloats));
  absl::StatusOr<SliceOptimizer> last =
      SliceOptimizer::Create(spec.optimizer(), DenseBlockSize(size, DenseBlocks(size) - 1));
  for (const absl::Status& status : {initializer.status(), optimizer.status(), last.status()}) {
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
  }
  return DenseSchema(id, resolved, *std::move(initializer), *std::move(optimizer), *std::move(last));
}

int64_t DenseSchema::BlockBytes(int64_t block) const {
  return kRowHeaderBytes + 4 * (BlockSize(block) + OptimizerOf(block).state_floats());
}

void DenseSchema::InitBlock(int64_t block, char* bytes) const {
  StoreRowHeader({static_cast<uint64_t>(block), 0, 0, 0}, bytes);
  const int64_t size = BlockSize(block);
  initializer_.FillRange(static_cast<uint64_t>(block * kDenseBlockFloats), size, RowFloats(bytes));
  OptimizerOf(block).InitState(RowFloats(bytes) + size);
}

void DenseSchema::UpdateBlock(int64_t block, const float* gradient, uint64_t step, char* bytes) const {
  const uint32_t count = CountUpdate(step, bytes);
  OptimizerOf(block).Update(gradient, count, RowFloats(bytes), RowFloats(bytes) + BlockSize(block));
}

}  // namespace rowan
