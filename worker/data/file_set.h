// ExpandFiles: what a FILES argument of the command line names.
//
// FILES is one of the following, or several of them separated by commas:
//   a file        day_0.tsv
//   a glob        data/day_*.tsv.gz      (* ? [..], as in the shell; a directory it matches counts as named)
//   a directory   data/                  (its regular files whose names begin with neither '.' nor '_'; not deeper)
// A path that exists is taken as it is, commas and stars included.
#ifndef ROWAN_WORKER_DATA_FILE_SET_H_
#define ROWAN_WORKER_DATA_FILE_SET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace rowan {

// Returns the paths of all files named, each once, in the byte order of their paths: the order in which their rows are
// numbered does not depend on how they were listed. Every path is a regular file that this process may read.
// Errors name the part of `files` at fault: NotFound (missing path, glob without match, directory without files),
// PermissionDenied, InvalidArgument (nothing named, neither file nor directory), or what the system says.
absl::StatusOr<std::vector<std::string>> ExpandFiles(absl::string_view files);

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_FILE_SET_H_
