// RowSink: a file of rows written front to back, plain or gzip (where the path ends in ".gz"), that appears whole.
//
// Bytes go to PATH.partial, which takes the place of PATH when Finish succeeds and is removed when anything fails, so
// a full disk never leaves half a data set under the right name. A PATH that exists and is no regular file (a pipe, a
// device) is written directly. Gzip output is one member whose blocks were compressed apart, so that threads share the
// work and the bytes do not depend on how many there were. Encode is thread-safe; a sink belongs to one thread.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_ROW_SINK_H_
#define ROWAN_WORKER_EXAMPLES_CTR_ROW_SINK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace rowan {

class RowSink {
 public:
  // A piece of the file, ready to be written.
  struct Block {
    std::string bytes;        // As they stand in the file.
    int64_t text_bytes = 0;   // Before compression.
    uint32_t text_crc32 = 0;  // Of the text; 0 in plain files.
  };

  // NotFound, PermissionDenied and the like, naming the path, where it cannot be written.
  static absl::StatusOr<std::unique_ptr<RowSink>> Create(absl::string_view path);

  // Drops the unfinished file, if Finish did not succeed.
  ~RowSink();

  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;

  // Turns text, whole lines, into a block of this file.
  Block Encode(std::string text) const;

  // Adds a block to the end. An error (ResourceExhausted: no space) names the path and the byte; the sink is then dead.
  absl::Status Append(const Block& block);

  // Ends the file, makes it durable and gives it its name. The last call.
  absl::Status Finish();

 private:
  RowSink(std::string path, std::string written_path, bool gzip, int fd);

  absl::Status Write(absl::string_view bytes);
  absl::Status Failure(int error_number, absl::string_view what) const;

  const std::string path_;
  const std::string written_path_;  // path_ itself, or its partial file.
  const bool gzip_;
  int fd_;  // -1 once closed.
  bool finished_ = false;
  int64_t bytes_ = 0;        // Written so far.
  uint64_t text_bytes_ = 0;  // The same before compression.
  uint32_t text_crc32_ = 0;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_ROW_SINK_H_
