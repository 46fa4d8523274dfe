#include "common/grpc_status.h"

#include <string>

namespace rowan {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const bool known =
      status.error_code() >= grpc::StatusCode::CANCELLED && status.error_code() <= grpc::StatusCode::UNAUTHENTICATED;
  return absl::Status(known ? static_cast<absl::StatusCode>(status.error_code()) : absl::StatusCode::kUnknown,
                      status.error_message());
}

}  // namespace rowan
