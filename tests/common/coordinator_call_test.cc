#include "common/coordinator_call.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CoordinatorCallTest, ACoordinatorThatIsNotThereIsWaitedFor) {
  for (const grpc::StatusCode code : {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::DEADLINE_EXCEEDED}) {
    EXPECT_THAT(CoordinatorStatus("c0:7700", grpc::Status(code, "why")),
                StatusIs(absl::StatusCode::kUnavailable, "waiting for the coordinator at c0:7700 (why)"));
  }
  EXPECT_THAT(CoordinatorStatus("c0:7700", grpc::Status(grpc::StatusCode::UNAVAILABLE, "waiting for servers: 1 of 2")),
              StatusIs(absl::StatusCode::kUnavailable, "waiting for servers: 1 of 2"));
}

// The heartbeat that was on its way when the coordinator ended must not end the worker.
TEST(CoordinatorCallTest, ACallThatAnEndingCoordinatorCutsOffIsNoAnswer) {
  EXPECT_THAT(CoordinatorStatus("c0:7700", grpc::Status(grpc::StatusCode::CANCELLED, "CANCELLED")),
              StatusIs(absl::StatusCode::kUnavailable, StartsWith("waiting for the coordinator at c0:7700")));
}

TEST(CoordinatorCallTest, WhatTheCoordinatorSaysStays) {
  EXPECT_TRUE(CoordinatorStatus("c0:7700", grpc::Status::OK).ok());
  EXPECT_THAT(CoordinatorStatus("c0:7700", grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "no rank is left")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no rank is left")));
}

}  // namespace
}  // namespace rowan
