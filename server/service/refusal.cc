#include "server/service/refusal.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace rowan {
namespace {

bool IsFinite(absl::Span<const float> values) {
  return absl::c_all_of(values, [](float value) { return std::isfinite(value); });
}

bool HasBadRow(const PushSection& section, const RefusedRow& row) {
  for (const TableGradients& gradients : section.tables) {
    if (gradients.table != row.table || gradients.keys.empty()) continue;
    const size_t width = gradients.gradients.size() / gradients.keys.size();
    for (size_t i = 0; i < gradients.keys.size(); ++i) {
      if (gradients.keys[i] == row.key && !IsFinite(gradients.gradients.subspan(i * width, width))) return true;
    }
  }
  return false;
}

bool HasBadBlock(const PushSection& section, uint32_t dense) {
  return absl::c_any_of(section.dense,
                        [&](const DenseGradient& g) { return g.dense == dense && !IsFinite(g.gradient); });
}

}  // namespace

std::string DescribeRefusal(const ShardEngine& engine, const ApplyCounts& counts,
                            absl::Span<const PushRequest* const> pushes) {
  const auto culprit = [&](auto is_bad) {
    const auto push = absl::c_find_if(pushes, is_bad);
    const std::string who = push == pushes.end() ? "the ranks' sum" : absl::StrCat("rank ", (*push)->header.rank);
    return absl::StrCat(" of ", who, " at step ", pushes.empty() ? 0 : pushes[0]->header.number);
  };
  std::string text;
  if (counts.first_row.has_value()) {
    const RefusedRow row = *counts.first_row;
    const auto table = engine.Table(row.table);
    absl::StrAppend(&text, "table '", table.ok() ? (*table)->name() : "", "' key ", row.key,
                    culprit([&](const PushRequest* push) {
                      return absl::c_any_of(push->sections, [&](const PushSection& s) { return HasBadRow(s, row); });
                    }));
  }
  if (counts.first_dense.has_value()) {
    const uint32_t id = *counts.first_dense;
    const auto dense = engine.Dense(id);
    absl::StrAppend(&text, text.empty() ? "" : ", ", "dense parameter '", dense.ok() ? (*dense)->name() : "", "'",
                    culprit([&](const PushRequest* push) {
                      return absl::c_linear_search(push->refused_dense, id) ||
                             absl::c_any_of(push->sections, [&](const PushSection& s) { return HasBadBlock(s, id); });
                    }));
  }
  return text;
}

}  // namespace rowan
