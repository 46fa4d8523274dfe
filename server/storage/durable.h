// Directories whose entries survive a power cut, over the rocksdb::Env handed in.
//
// A file is safe when its bytes are synced; its name when the directory that holds it is. Errors name the path.
#ifndef ROWAN_SERVER_STORAGE_DURABLE_H_
#define ROWAN_SERVER_STORAGE_DURABLE_H_

#include <string>

#include "absl/status/status.h"
#include "rocksdb/env.h"

namespace rowan {

// Returns once all names created, renamed and removed in `directory` so far are on disk.
absl::Status SyncDirectory(rocksdb::Env* env, const std::string& directory);

// Creates `directory` and the parents it lacks, each synced into its own parent.
absl::Status CreateDirectories(rocksdb::Env* env, const std::string& directory);

// Removes `directory` and the files in it. FailedPrecondition if it holds another directory.
absl::Status RemoveDirectory(rocksdb::Env* env, const std::string& directory);

}  // namespace rowan

#endif  // ROWAN_SERVER_STORAGE_DURABLE_H_
