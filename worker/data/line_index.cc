#include "worker/data/line_index.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace rowan {
namespace {

constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The bytes of `text` before its first newline, or all.
absl::string_view FirstLine(absl::string_view text) {
  if (text.empty()) return text;
  const void* const newline = std::memchr(text.data(), '\n', text.size());
  return newline == nullptr ? text : text.substr(0, static_cast<const char*>(newline) - text.data());
}

absl::string_view WithoutReturn(absl::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

LineIndex LineIndex::Build(std::vector<TextFile> files, absl::FunctionRef<bool(absl::string_view line)> is_header) {
  LineIndex index;
  index.files_ = std::move(files);
  for (const TextFile& file : index.files_) {
    index.first_rows_.push_back(index.size());
    const absl::string_view bytes = file.bytes();
    size_t begin = absl::StartsWith(bytes, kByteOrderMark) ? kByteOrderMark.size() : 0;
    bool may_be_header = true;
    while (begin < bytes.size()) {
      const absl::string_view line = FirstLine(bytes.substr(begin));
      const absl::string_view content = WithoutReturn(line);
      if (!content.empty()) {
        if (!may_be_header || !is_header(content)) index.starts_.push_back(begin);
        may_be_header = false;
      }
      begin += line.size() + 1;
    }
  }
  return index;
}

const TextFile& LineIndex::FileOf(int64_t row) const {
  const auto next = std::upper_bound(first_rows_.begin(), first_rows_.end(), row);
  return files_[next - first_rows_.begin() - 1];
}

absl::string_view LineIndex::Line(int64_t row) const {
  return WithoutReturn(FirstLine(FileOf(row).bytes().substr(starts_[row])));
}

void LineIndex::Prefetch(int64_t row) const {
  constexpr int kCacheLines = 5;
  const char* const start = FileOf(row).bytes().data() + starts_[row];
  for (int i = 0; i < kCacheLines; ++i) __builtin_prefetch(start + 64 * i);
}

LineIndex::Place LineIndex::Locate(int64_t row) const {
  const TextFile& file = FileOf(row);
  const absl::string_view before = file.bytes().substr(0, starts_[row]);
  return {file.path(), 1 + std::count(before.begin(), before.end(), '\n')};
}

std::string LineIndex::Where(int64_t row) const {
  const Place place = Locate(row);
  return absl::StrCat(place.file, ":", place.line);
}

}  // namespace rowan
