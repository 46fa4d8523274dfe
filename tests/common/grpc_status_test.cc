#include "common/grpc_status.h"

#include "gtest/gtest.h"

namespace rowan {
namespace {

TEST(GrpcStatusTest, EveryCodeSurvivesBothWays) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_TRUE(FromGrpcStatus(grpc::Status::OK).ok());
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "shard 12: \xc3\xa4");
    const grpc::Status crossed = ToGrpcStatus(status);
    EXPECT_EQ(crossed.error_code(), code);
    EXPECT_EQ(FromGrpcStatus(crossed), status);
  }
  EXPECT_EQ(ToGrpcStatus(absl::AbortedError("")).error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(ToGrpcStatus(absl::UnavailableError("")).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ToGrpcStatus(absl::FailedPreconditionError("")).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST(GrpcStatusTest, CodeThatNobodyDefinesIsUnknown) {
  EXPECT_EQ(FromGrpcStatus(grpc::Status(static_cast<grpc::StatusCode>(17), "odd")), absl::UnknownError("odd"));
}

}  // namespace
}  // namespace rowan
