// Gunzip: the plain bytes of a gzip file (RFC 1952), written to a file descriptor.
#ifndef ROWAN_WORKER_DATA_GUNZIP_H_
#define ROWAN_WORKER_DATA_GUNZIP_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace rowan {

// True if `bytes` begin as a gzip file does.
bool IsGzip(absl::string_view bytes);

// Appends to `fd` what the gzip members of `bytes` hold, one after the other. Zeros after the last member are padding.
// Errors begin with `name`: DataLoss with the offset in `bytes` where they end early, are corrupt, or go on with
// something else; what the system says if `fd` cannot be written. `fd` holds what came before the error.
// REQUIRES: IsGzip(bytes).
absl::Status Gunzip(absl::string_view bytes, absl::string_view name, int fd);

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_GUNZIP_H_
