#include "server/table/table_schema.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/table/catalog_name.h"

namespace rowan {
namespace {

constexpr int kMaxSlices = 16;
constexpr uint32_t kMaxSliceWidth = 4096;

absl::Status InContext(const absl::Status& status, absl::string_view context) {
  return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

absl::Status Differs(absl::string_view what, absl::string_view existing, absl::string_view asked) {
  return absl::FailedPreconditionError(absl::StrCat(what, " is ", existing, ", not ", asked));
}

// The first difference of two optimizers' or initializers' identities.
absl::Status CheckSameParts(const std::string& what, const proto::Initializer& initializer_a,
                            const proto::Initializer& initializer_b, const proto::Optimizer& optimizer_a,
                            const proto::Optimizer& optimizer_b) {
  if (initializer_a.kind() != initializer_b.kind()) {
    return Differs(what + " initializer", proto::Initializer::Kind_Name(initializer_a.kind()),
                   proto::Initializer::Kind_Name(initializer_b.kind()));
  }
  if (initializer_a.scale() != initializer_b.scale()) {
    return Differs(what + " initializer scale", absl::StrCat(initializer_a.scale()),
                   absl::StrCat(initializer_b.scale()));
  }
  if (optimizer_a.kind() != optimizer_b.kind()) {
    return Differs(what + " optimizer", proto::Optimizer::Kind_Name(optimizer_a.kind()),
                   proto::Optimizer::Kind_Name(optimizer_b.kind()));
  }
  if (optimizer_a.initial_accumulator() != optimizer_b.initial_accumulator()) {
    return Differs(what + " initial accumulator", absl::StrCat(optimizer_a.initial_accumulator()),
                   absl::StrCat(optimizer_b.initial_accumulator()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TableSchema> TableSchema::Create(uint32_t id, const proto::TableSpec& spec, uint64_t seed) {
  ROWAN_RETURN_IF_ERROR(CheckCatalogName("a table", spec.name()));
  const std::string table = absl::StrCat("table '", absl::CEscape(spec.name()), "'");
  if (spec.slices_size() < 1 || spec.slices_size() > kMaxSlices) {
    return absl::InvalidArgumentError(
        absl::StrCat(table, " has ", spec.slices_size(), " slices, must have 1 to ", kMaxSlices));
  }
  if (!proto::TableSpec::Absent_IsValid(spec.absent())) {
    return absl::InvalidArgumentError(absl::StrCat(table, " has an unknown `absent` ", spec.absent()));
  }
  TableSchema schema;
  schema.id_ = id;
  schema.spec_ = spec;
  schema.spec_.set_seed(seed);
  std::set<std::string> names;
  for (int i = 0; i < spec.slices_size(); ++i) {
    const proto::Slice& slice = spec.slices(i);
    const std::string what = absl::StrCat(table, " slice ", i, " '", absl::CEscape(slice.name()), "'");
    if (slice.width() < 1 || slice.width() > kMaxSliceWidth) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " has width ", slice.width(), ", must be 1 to ", kMaxSliceWidth));
    }
    if (!IsUtf8(slice.name())) {
      return absl::InvalidArgumentError(
          absl::StrCat(table, " slice ", i, " '", absl::CHexEscape(slice.name()), "' has a name that is not UTF-8"));
    }
    if (!names.insert(slice.name()).second) {
      return absl::InvalidArgumentError(absl::StrCat(what, " has the name of an earlier slice"));
    }
    absl::StatusOr<SliceInitializer> initializer = SliceInitializer::Create(slice.initializer(), seed, i, slice.width());
    if (!initializer.ok()) return InContext(initializer.status(), what);
    absl::StatusOr<SliceOptimizer> optimizer = SliceOptimizer::Create(slice.optimizer(), slice.width());
    if (!optimizer.ok()) return InContext(optimizer.status(), what);
    const int64_t state = optimizer->state_floats();
    schema.slices_.push_back({static_cast<int64_t>(slice.width()), schema.width_, schema.state_width_,
                              *std::move(initializer), *std::move(optimizer)});
    schema.width_ += slice.width();
    schema.state_width_ += state;
  }
  return schema;
}

void TableSchema::FillAbsent(uint64_t key, float* values) const {
  if (spec_.absent() == proto::TableSpec::ZERO) {
    std::fill_n(values, width_, 0.0f);
    return;
  }
  for (const ResolvedSlice& slice : slices_) slice.initializer.Fill(key, values + slice.values_offset);
}

void TableSchema::InitBlock(uint64_t key, char* block) const {
  StoreRowHeader({key, 0, 0, 0}, block);
  float* const values = RowFloats(block);
  for (const ResolvedSlice& slice : slices_) {
    slice.initializer.Fill(key, values + slice.values_offset);
    slice.optimizer.InitState(values + width_ + slice.state_offset);
  }
}

void TableSchema::UpdateBlock(const float* gradient, uint64_t step, char* block) const {
  const uint32_t count = CountUpdate(step, block);
  float* const values = RowFloats(block);
  for (const ResolvedSlice& slice : slices_) {
    slice.optimizer.Update(gradient + slice.values_offset, count, values + slice.values_offset,
                           values + width_ + slice.state_offset);
  }
}

absl::Status CheckSameIdentity(const proto::TableSpec& existing, const proto::TableSpec& asked) {
  const std::string table = absl::StrCat("table '", absl::CEscape(existing.name()), "'");
  if (existing.slices_size() != asked.slices_size()) {
    return Differs(table + " number of slices", absl::StrCat(existing.slices_size()), absl::StrCat(asked.slices_size()));
  }
  if (asked.seed() != 0 && existing.seed() != asked.seed()) {
    return Differs(table + " seed", absl::StrCat(existing.seed()), absl::StrCat(asked.seed()));
  }
  if (existing.absent() != asked.absent()) {
    return Differs(table + " absent", proto::TableSpec::Absent_Name(existing.absent()),
                   proto::TableSpec::Absent_Name(asked.absent()));
  }
  for (int i = 0; i < existing.slices_size(); ++i) {
    const proto::Slice& a = existing.slices(i);
    const proto::Slice& b = asked.slices(i);
    const std::string what = absl::StrCat(table, " slice ", i);
    if (a.name() != b.name()) return Differs(what + " name", absl::CEscape(a.name()), absl::CEscape(b.name()));
    if (a.width() != b.width()) return Differs(what + " width", absl::StrCat(a.width()), absl::StrCat(b.width()));
    ROWAN_RETURN_IF_ERROR(CheckSameParts(what, a.initializer(), b.initializer(), a.optimizer(), b.optimizer()));
  }
  return absl::OkStatus();
}

absl::Status CheckSameIdentity(const proto::DenseSpec& existing, const proto::DenseSpec& asked) {
  const std::string what = absl::StrCat("dense parameter '", absl::CEscape(existing.name()), "'");
  if (existing.size() != asked.size()) {
    return Differs(what + " size", absl::StrCat(existing.size()), absl::StrCat(asked.size()));
  }
  if (asked.seed() != 0 && existing.seed() != asked.seed()) {
    return Differs(what + " seed", absl::StrCat(existing.seed()), absl::StrCat(asked.seed()));
  }
  return CheckSameParts(what, existing.initializer(), asked.initializer(), existing.optimizer(), asked.optimizer());
}

}  // namespace rowan
