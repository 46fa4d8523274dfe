// Checking and applying pushes.
#include <algorithm>
#include <cmath>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "glog/logging.h"
#include "server/table/dense_merge.h"
#include "server/table/gradient_merge.h"
#include "server/table/shard_engine.h"
#include "server/table/vector_ops.h"

namespace rowan {
namespace {

// So that 1 / weight is a normal float, of the ranks' total too.
constexpr double kMinWeight = 1e-18;
constexpr double kMaxWeight = 1e18;

// Gradients are multiplied by this: 1 / weight, or 1 for a push that is taken as it is.
float Scale(double weight) {
  const float scale = weight > 0 ? static_cast<float>(1.0 / weight) : 1.0f;
  CHECK(std::isnormal(scale)) << "weight " << weight;
  return scale;
}

}  // namespace

struct ShardEngine::Scratch {
  GradientMerge merge;
  std::vector<float> gradient;  // one row's mean
  std::vector<uint32_t> ids;
};

absl::Status ShardEngine::CheckPush(const PushRequest& push) const {
  if (push.weight != 0 && !(push.weight >= kMinWeight && push.weight <= kMaxWeight)) {
    return absl::InvalidArgumentError(
        absl::StrCat("push of weight ", push.weight, ": must be 0, or ", kMinWeight, " to ", kMaxWeight));
  }
  for (const uint32_t id : push.refused_dense) {
    if (const auto dense = Dense(id); !dense.ok()) {
      return absl::NotFoundError(absl::StrCat("push that refuses a dense parameter: ", dense.status().message()));
    }
  }
  int64_t previous = -1;
  size_t keys = 0;
  for (const PushSection& section : push.sections) {
    const std::string where = absl::StrCat("push section for shard ", section.shard);
    if (section.shard >= placement_.num_shards() || static_cast<int64_t>(section.shard) <= previous) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": shards are 0 to ", placement_.num_shards() - 1, ", ascending, each once"));
    }
    previous = section.shard;
    ROWAN_RETURN_IF_ERROR(CheckOwned(section.shard));
    for (const TableGradients& gradients : section.tables) {
      const auto found = Table(gradients.table);
      if (!found.ok()) return absl::NotFoundError(absl::StrCat(where, ": ", found.status().message()));
      const TableSchema* const schema = found->get();
      const size_t n = gradients.keys.size();
      if (n > kMaxKeys - keys) {
        return absl::InvalidArgumentError(absl::StrCat(where, ", table '", schema->name(), "': ", n, " keys after ",
                                                       keys, ", at most ", kMaxKeys, " in a push"));
      }
      keys += n;
      if (gradients.gradients.size() != n * schema->width() ||
          (!gradients.occurrences.empty() && gradients.occurrences.size() != n)) {
        return absl::InvalidArgumentError(absl::StrCat(where, ", table '", schema->name(), "' of width ",
                                                       schema->width(), ": ", n, " keys, ", gradients.gradients.size(),
                                                       " floats, ", gradients.occurrences.size(), " occurrences"));
      }
      for (const uint64_t key : gradients.keys) {
        if (placement_.ShardOfKey(key) != section.shard) {
          return absl::InvalidArgumentError(absl::StrCat(where, ", table '", schema->name(), "': key ", key,
                                                         " belongs to shard ", placement_.ShardOfKey(key)));
        }
      }
    }
    for (const DenseGradient& gradient : section.dense) {
      const auto found = Dense(gradient.dense);
      if (!found.ok()) return absl::NotFoundError(absl::StrCat(where, ": ", found.status().message()));
      const DenseSchema* const schema = found->get();
      if (gradient.block >= static_cast<uint64_t>(schema->blocks()) ||
          static_cast<int64_t>(gradient.gradient.size()) != schema->BlockSize(gradient.block) ||
          placement_.ShardOfDenseBlock(schema->name(), gradient.block) != section.shard) {
        return absl::InvalidArgumentError(absl::StrCat(where, ", dense parameter '", schema->name(), "' of size ",
                                                       schema->size(), ": block ", gradient.block, " with ",
                                                       gradient.gradient.size(), " floats does not belong there"));
      }
    }
  }
  return absl::OkStatus();
}

std::vector<uint32_t> ShardEngine::RefusedDense(absl::Span<const PushRequest* const> pushes, const DenseMerge& merge,
                                                int64_t* counted) const {
  std::set<uint32_t> refused;
  for (const PushRequest* push : pushes) refused.insert(push->refused_dense.begin(), push->refused_dense.end());
  *counted = 0;
  for (const uint32_t id : refused) {
    if (Owns(placement_.ShardOfDenseBlock((*Dense(id))->name(), 0))) ++*counted;
  }
  for (const DenseMerge::Block& block : merge.blocks()) {
    if (!block.finite && refused.insert(block.dense).second) ++*counted;
  }
  return {refused.begin(), refused.end()};
}

void ShardEngine::ApplyRows(ShardTable* table, float scale, uint64_t step, Scratch* scratch, ApplyCounts* counts) {
  const TableSchema& schema = table->schema();
  const int64_t width = schema.width();
  const int64_t row_bytes = schema.row_bytes();
  scratch->gradient.resize(std::max<size_t>(scratch->gradient.size(), width));
  float* const gradient = scratch->gradient.data();
  const absl::Span<const GradientMerge::Sum> sums = scratch->merge.sums();
  for (size_t begin = 0; begin < sums.size(); begin += ShardTable::kBatch) {
    const absl::Span<const GradientMerge::Sum> batch = sums.subspan(begin, ShardTable::kBatch);
    for (const GradientMerge::Sum& sum : batch) table->Prefetch(sum.hash);
    for (const GradientMerge::Sum& sum : batch) {
      const char* const guess = table->Guess(sum.hash);
      if (guess != nullptr) PrefetchBlock</*kToWrite=*/true>(guess, row_bytes);
    }
    for (const GradientMerge::Sum& sum : batch) {
      if (!ScaleAll(sum.gradient, scale, width, gradient)) {
        ++counts->refused_rows;
        if (!counts->first_row.has_value()) counts->first_row = RefusedRow{schema.id(), sum.key};
        continue;
      }
      char* block = table->Find(sum.hash, sum.key);
      if (block == nullptr) {
        block = table->Create(sum.hash, sum.key);
        ++counts->born_rows;
      }
      schema.UpdateBlock(gradient, step, block);
      ++counts->updated_rows;
    }
  }
}

void ShardEngine::ApplySections(Shard* shard, absl::Span<const PushSection* const> sections,
                                absl::Span<const DenseMerge::Block> dense, absl::Span<const uint32_t> refused_dense,
                                float scale, uint64_t step, Scratch* scratch, ApplyCounts* counts) {
  const auto collect_ids = [&](auto list_of) {
    scratch->ids.clear();
    for (const PushSection* section : sections) list_of(*section);
    std::sort(scratch->ids.begin(), scratch->ids.end());
    scratch->ids.erase(std::unique(scratch->ids.begin(), scratch->ids.end()), scratch->ids.end());
  };
  collect_ids([&](const PushSection& section) {
    for (const TableGradients& gradients : section.tables) {
      if (!gradients.keys.empty()) scratch->ids.push_back(gradients.table);
    }
  });
  for (const uint32_t id : scratch->ids) {
    int64_t expected = 0;
    for (const PushSection* section : sections) {
      for (const TableGradients& g : section->tables) expected += g.table == id ? g.keys.size() : 0;
    }
    ShardTable* const table = TableIn(shard, *Table(id));
    scratch->merge.Reset(table->schema().width(), expected);
    for (const PushSection* section : sections) {
      for (const TableGradients& g : section->tables) {
        if (g.table == id) scratch->merge.Add(g.keys, g.occurrences, g.gradients.data());
      }
    }
    ApplyRows(table, scale, step, scratch, counts);
  }

  for (const DenseMerge::Block& block : dense) {
    if (std::binary_search(refused_dense.begin(), refused_dense.end(), block.dense)) continue;
    DenseBlock& stored = shard->dense.at({block.dense, block.block});
    stored.schema->UpdateBlock(block.block, block.mean.data(), step, stored.bytes.get());
  }
}

ApplyCounts ShardEngine::ApplyStep(absl::Span<const PushRequest* const> pushes, double weight, uint64_t step) {
  const float scale = Scale(weight);
  ApplyCounts total;
  std::vector<std::vector<const PushSection*>> by_shard(placement_.num_shards());
  DenseMerge dense;
  for (const PushRequest* push : pushes) {
    for (const PushSection& section : push->sections) {
      by_shard[section.shard].push_back(&section);
      dense.Add(section);
    }
  }
  dense.Sum(scale, pool_);
  const std::vector<uint32_t> refused_dense = RefusedDense(pushes, dense, &total.refused_dense);
  if (total.refused_dense > 0) total.first_dense = refused_dense.front();
  // A task is a run of shards: enough of them to share the scratch memory, few enough to spread the work.
  const int64_t tasks = std::min<int64_t>(placement_.num_shards(), pool_->size() * 8);
  std::vector<ApplyCounts> counts(tasks);
  pool_->ParallelFor(tasks, [&](int64_t task) {
    Scratch scratch;
    const int64_t shards = placement_.num_shards();
    for (int64_t s = task * shards / tasks; s < (task + 1) * shards / tasks; ++s) {
      if (by_shard[s].empty()) continue;
      MutexLock lock(&shards_[s].mu);
      ApplySections(&shards_[s], by_shard[s], dense.InShard(s), refused_dense, scale, step, &scratch, &counts[task]);
    }
  });
  for (const ApplyCounts& c : counts) total += c;
  return total;
}

absl::Status ShardEngine::ApplyOnce(const PushRequest& push, std::vector<SectionOutcome>* outcomes,
                                    ApplyCounts* total) {
  outcomes->clear();
  *total = {};
  const uint64_t number = push.header.number;
  const auto too_old = [&](uint32_t shard) {
    return absl::OutOfRangeError(absl::StrCat("push ", number, " of rank ", push.header.rank, " for shard ", shard,
                                              ": more than ", PushWindow::kBelow,
                                              " below its newest push, cannot tell whether it was applied"));
  };
  for (const PushSection& section : push.sections) {
    SharedMutexLock lock(&shards_[section.shard].mu);
    const auto window = shards_[section.shard].windows.find(push.header.rank);
    if (window != shards_[section.shard].windows.end() &&
        window->second.Check(number) == PushWindow::Verdict::kTooOld) {
      return too_old(section.shard);
    }
  }
  const float scale = Scale(push.weight);
  const PushRequest* const pushes[] = {&push};
  DenseMerge dense;
  for (const PushSection& section : push.sections) dense.Add(section);
  dense.Sum(scale, pool_);
  int64_t counted_dense = 0;
  const std::vector<uint32_t> refused_dense = RefusedDense(pushes, dense, &counted_dense);
  outcomes->assign(push.sections.size(), SectionOutcome::kDuplicate);
  const int64_t n = push.sections.size();
  const int64_t tasks = std::min<int64_t>(n, pool_->size() * 8);
  std::vector<ApplyCounts> counts(tasks);
  std::vector<absl::Status> statuses(tasks);
  pool_->ParallelFor(tasks, [&](int64_t task) {
    Scratch scratch;
    for (int64_t i = task * n / tasks; i < (task + 1) * n / tasks; ++i) {
      const PushSection* const section = &push.sections[i];
      Shard& shard = shards_[section->shard];
      MutexLock lock(&shard.mu);
      PushWindow& window = shard.windows[push.header.rank];
      switch (window.Check(number)) {
        case PushWindow::Verdict::kTooOld:  // The rank sent more than a window at once meanwhile.
          statuses[task] = too_old(section->shard);
          break;
        case PushWindow::Verdict::kSeen:
          break;
        case PushWindow::Verdict::kNew:
          window.Mark(number);
          (*outcomes)[i] = SectionOutcome::kApplied;
          ApplySections(&shard, absl::MakeConstSpan(&section, 1), dense.InShard(section->shard), refused_dense, scale,
                        number, &scratch, &counts[task]);
          break;
      }
    }
  });
  for (const ApplyCounts& c : counts) *total += c;
  // Refused once: not again when the push comes again.
  if (counted_dense > 0 && absl::c_linear_search(*outcomes, SectionOutcome::kApplied)) {
    total->refused_dense = counted_dense;
    total->first_dense = refused_dense.front();
  }
  for (const absl::Status& status : statuses) {
    if (status.ok()) continue;
    outcomes->clear();
    return status;
  }
  return absl::OkStatus();
}

}  // namespace rowan
