#include "worker/data/criteo_layout.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "worker/data/file_set.h"
#include "worker/data/text_file.h"

namespace rowan {

bool IsCriteoHeader(absl::string_view line) {
  const auto is_number = [](absl::string_view field) {
    double number;
    return absl::SimpleAtod(field, &number);
  };
  bool names_integers = false;
  int column = 0;
  for (const absl::string_view field : absl::StrSplit(line, '\t')) {
    if (is_number(field)) return false;
    if (column == 0 && field.empty()) return false;
    if (column > 0 && !field.empty()) names_integers = true;
    if (++column == kCriteoIntegers) break;
  }
  return names_integers;
}

absl::StatusOr<LineIndex> OpenCriteoRows(absl::string_view files) {
  ROWAN_ASSIGN_OR_RETURN(const std::vector<std::string> paths, ExpandFiles(files));
  std::vector<TextFile> opened;
  opened.reserve(paths.size());
  for (const std::string& path : paths) {
    ROWAN_ASSIGN_OR_RETURN(TextFile file, TextFile::Open(path));
    opened.push_back(std::move(file));
  }
  return LineIndex::Build(std::move(opened), IsCriteoHeader);
}

CriteoLayout DetectLayout(const LineIndex& index) {
  constexpr int64_t kRows = 1000;
  int64_t votes = 0;  // For labels, less those against.
  CriteoRow row;
  for (int64_t i = 0; i < std::min(kRows, index.size()); ++i) {
    const absl::string_view line = index.Line(i);
    votes += ParseCriteo(line, CriteoLayout::kLabelled, &row).ok();
    votes -= ParseCriteo(line, CriteoLayout::kUnlabelled, &row).ok();
  }
  return votes >= 0 ? CriteoLayout::kLabelled : CriteoLayout::kUnlabelled;
}

}  // namespace rowan
