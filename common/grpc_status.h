// The one bridge between absl::Status and grpc::Status. Codes have the same numbers on both sides; a code that gRPC
// does not define becomes Unknown. Payloads and details are dropped.
#ifndef ROWAN_COMMON_GRPC_STATUS_H_
#define ROWAN_COMMON_GRPC_STATUS_H_

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace rowan {

grpc::Status ToGrpcStatus(const absl::Status& status);
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace rowan

#endif  // ROWAN_COMMON_GRPC_STATUS_H_
