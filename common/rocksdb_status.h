// The one bridge from rocksdb::Status, which its Env returns for files as well, to absl::Status.
//
//   rocksdb                                     absl
//   Corruption                                  DataLoss
//   IOError: no such file                       NotFound
//   IOError: no space; Aborted: memory limit    ResourceExhausted
//   IOError, other                              FailedPrecondition: the disk, its rights or its mount want repair
//   TryAgain, Busy                              Unavailable: retry this call
//   NotFound, NotSupported, InvalidArgument,    the code of that meaning
//   TimedOut, Aborted, ShutdownInProgress
//   all others                                  Internal
#ifndef ROWAN_COMMON_ROCKSDB_STATUS_H_
#define ROWAN_COMMON_ROCKSDB_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rocksdb/status.h"

namespace rowan {

// `what` says which thing and which action failed ("snapshot-…/shard-00003.sst: read"); the message is
// "what: RocksDB's own words".
absl::Status FromRocksDb(const rocksdb::Status& status, absl::string_view what);

}  // namespace rowan

#endif  // ROWAN_COMMON_ROCKSDB_STATUS_H_
