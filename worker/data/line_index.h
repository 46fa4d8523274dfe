// LineIndex: the rows of a list of text files, numbered from 0 through all of them in order.
//
// A row is a line that is not blank and not its file's header. Lines end in "\n" or "\r\n", the last one may end
// without. A byte order mark (UTF-8) at the start of a file belongs to no line. A blank line is one of no bytes before
// its ending. Any other byte may stand in a line, NUL included, and a line may have any length.
//
// Layout: one 64-bit offset per row (its place in its file), in pieces that never move; everything else is found when
// asked for. Immutable after Build, so any number of threads may read.
#ifndef ROWAN_WORKER_DATA_LINE_INDEX_H_
#define ROWAN_WORKER_DATA_LINE_INDEX_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "worker/data/text_file.h"

namespace rowan {

class LineIndex {
 public:
  // Scans all of `files` once. `is_header` is asked once per file, with its first line that is not blank.
  static LineIndex Build(std::vector<TextFile> files, absl::FunctionRef<bool(absl::string_view line)> is_header);

  int64_t size() const { return static_cast<int64_t>(starts_.size()); }

  // The row's bytes without the line's ending; valid as long as the index. REQUIRES (all below): 0 <= row < size().
  absl::string_view Line(int64_t row) const;

  // Starts to load the first bytes of a row that Line will soon be called for.
  void Prefetch(int64_t row) const;

  // Where a row stands, for messages: reads its file from the start to count lines, blank ones and headers included.
  struct Place {
    absl::string_view file;  // As given; valid as long as the index.
    int64_t line;            // From 1.
  };
  Place Locate(int64_t row) const;
  // "day_0.tsv:17"
  std::string Where(int64_t row) const;

 private:
  const TextFile& FileOf(int64_t row) const;

  std::vector<TextFile> files_;
  std::vector<int64_t> first_rows_;  // Of each file, the number of rows in the files before it.
  std::deque<uint64_t> starts_;      // Of each row, bytes from the start of its file.
};

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_LINE_INDEX_H_
