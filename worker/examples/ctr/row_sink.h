// RowSink: a file of rows written front to back, plain or gzip (where the path ends in ".gz"), that appears whole.
//
// The file is an OutputFile (common/output_file.h). Gzip output is one member whose blocks were compressed apart, so
// that threads share the work and the bytes do not depend on how many there were. Encode is thread-safe; a sink belongs
// to one thread.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_ROW_SINK_H_
#define ROWAN_WORKER_EXAMPLES_CTR_ROW_SINK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/output_file.h"

namespace rowan {

class RowSink {
 public:
  // A piece of the file, ready to be written.
  struct Block {
    std::string bytes;        // As they stand in the file.
    int64_t text_bytes = 0;   // Before compression.
    uint32_t text_crc32 = 0;  // Of the text; 0 in plain files.
  };

  // NotFound, PermissionDenied and the like, naming the path, where it cannot be written. What is not finished is
  // dropped with the sink.
  static absl::StatusOr<std::unique_ptr<RowSink>> Create(absl::string_view path);

  // Turns text, whole lines, into a block of this file.
  Block Encode(std::string text) const;

  // Adds a block to the end. An error (ResourceExhausted: no space) names the path and the byte; the sink is then dead.
  absl::Status Append(const Block& block);

  // Ends the file, makes it durable and gives it its name. The last call.
  absl::Status Finish();

 private:
  RowSink(std::unique_ptr<OutputFile> file, bool gzip) : file_(std::move(file)), gzip_(gzip) {}

  const std::unique_ptr<OutputFile> file_;
  const bool gzip_;
  uint64_t text_bytes_ = 0;  // Before compression.
  uint32_t text_crc32_ = 0;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_ROW_SINK_H_
