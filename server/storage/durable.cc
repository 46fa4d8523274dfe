#include "server/storage/durable.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/rocksdb_status.h"
#include "common/status_macros.h"

namespace rowan {

absl::Status SyncDirectory(rocksdb::Env* env, const std::string& directory) {
  std::unique_ptr<rocksdb::Directory> handle;
  ROWAN_RETURN_IF_ERROR(FromRocksDb(env->NewDirectory(directory, &handle), directory));
  return FromRocksDb(handle->Fsync(), absl::StrCat(directory, ": fsync"));
}

absl::Status CreateDirectories(rocksdb::Env* env, const std::string& directory) {
  const rocksdb::Status exists = env->FileExists(directory);
  if (!exists.IsNotFound()) return FromRocksDb(exists, directory);
  const size_t slash = directory.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : slash == 0 ? "/" : directory.substr(0, slash);
  ROWAN_RETURN_IF_ERROR(CreateDirectories(env, parent));
  ROWAN_RETURN_IF_ERROR(FromRocksDb(env->CreateDirIfMissing(directory), directory));
  return SyncDirectory(env, parent);
}

absl::Status RemoveDirectory(rocksdb::Env* env, const std::string& directory) {
  std::vector<std::string> names;
  ROWAN_RETURN_IF_ERROR(FromRocksDb(env->GetChildren(directory, &names), directory));
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(directory, "/", name);
    ROWAN_RETURN_IF_ERROR(FromRocksDb(env->DeleteFile(path), path));
  }
  return FromRocksDb(env->DeleteDir(directory), directory);
}

}  // namespace rowan
