// TextFile: all bytes of one input file as one string_view, plain or gzip.
//
// A plain file is mapped. A gzip file (known by its first bytes, whatever its name) is decompressed into a file without
// a name under $TMPDIR, or /tmp, and that is mapped: the space it takes on disk is the decompressed size, and is free
// again when the TextFile is gone. Memory is page cache either way. No descriptor stays open.
//
// A mapped file that another process shortens kills the reader (SIGBUS): input files must not change during a run.
// Immutable, so any number of threads may read.
#ifndef ROWAN_WORKER_DATA_TEXT_FILE_H_
#define ROWAN_WORKER_DATA_TEXT_FILE_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace rowan {

class TextFile {
 public:
  // Errors begin with `path`: what the system says, DataLoss for a damaged gzip file (see gunzip.h).
  // REQUIRES: `path` is a regular file, not a pipe.
  static absl::StatusOr<TextFile> Open(const std::string& path);

  TextFile(TextFile&& other) noexcept { *this = std::move(other); }
  TextFile& operator=(TextFile&& other) noexcept;
  ~TextFile();

  const std::string& path() const { return path_; }
  // Valid as long as this TextFile, or the one it was moved to. Empty for an empty file.
  absl::string_view bytes() const { return absl::string_view(data_, size_); }

 private:
  TextFile() = default;
  absl::Status Map(int fd);

  std::string path_;
  const char* data_ = nullptr;  // A mapping of `size_` bytes, or null if there are none.
  size_t size_ = 0;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_TEXT_FILE_H_
