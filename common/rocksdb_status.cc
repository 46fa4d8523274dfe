#include "common/rocksdb_status.h"

#include "absl/strings/str_cat.h"

namespace rowan {
namespace {

absl::StatusCode CodeOf(const rocksdb::Status& status) {
  using rocksdb::Status;
  switch (status.code()) {
    case Status::kOk:
      return absl::StatusCode::kOk;
    case Status::kNotFound:
      return absl::StatusCode::kNotFound;
    case Status::kCorruption:
      return absl::StatusCode::kDataLoss;
    case Status::kNotSupported:
      return absl::StatusCode::kUnimplemented;
    case Status::kInvalidArgument:
      return absl::StatusCode::kInvalidArgument;
    case Status::kIOError:
      if (status.subcode() == Status::kPathNotFound) return absl::StatusCode::kNotFound;
      if (status.subcode() == Status::kNoSpace || status.subcode() == Status::kSpaceLimit) {
        return absl::StatusCode::kResourceExhausted;
      }
      return absl::StatusCode::kFailedPrecondition;
    case Status::kShutdownInProgress:
      return absl::StatusCode::kCancelled;
    case Status::kTimedOut:
      return absl::StatusCode::kDeadlineExceeded;
    case Status::kAborted:
      return status.subcode() == Status::kMemoryLimit ? absl::StatusCode::kResourceExhausted
                                                      : absl::StatusCode::kAborted;
    case Status::kBusy:
    case Status::kTryAgain:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status FromRocksDb(const rocksdb::Status& status, absl::string_view what) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(CodeOf(status), absl::StrCat(what, ": ", status.ToString()));
}

}  // namespace rowan
