// OutputFile: a file that is there whole or as it was before.
//
// Bytes go to a hidden file of a name of its own beside PATH, which takes PATH's place when Finish succeeds and is
// removed when anything fails, so two writers never mix and no file that was there is touched before. It has the mode
// of a new file. A PATH that exists and is no regular file (a pipe, a device) is written to directly: to rename over it
// would take it away. Not thread-safe.
#ifndef ROWAN_COMMON_OUTPUT_FILE_H_
#define ROWAN_COMMON_OUTPUT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace rowan {

class OutputFile {
 public:
  // OK if Create would probably succeed: `path` is no directory, and it, or the folder it lies in, may be written to.
  // InvalidArgument says why not, after the path. Changes nothing.
  static absl::Status Check(const std::string& path);

  // Errors of this and of all below are what the system says, after the path.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path);

  // Drops what was written, unless Finish succeeded.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Appends to the file; not buffered. Errors name the byte, too.
  absl::Status Write(absl::string_view bytes);

  // Makes the bytes durable, then gives the file its name. The last call.
  absl::Status Finish();

 private:
  OutputFile(std::string path, std::string written_path, int fd)
      : path_(std::move(path)), written_path_(std::move(written_path)), fd_(fd) {}

  const std::string path_;
  const std::string written_path_;  // path_ itself, or its temporary name
  int fd_;                          // -1 once closed
  int64_t bytes_ = 0;               // written so far
  bool finished_ = false;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_OUTPUT_FILE_H_
