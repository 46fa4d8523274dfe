// StatusIs(code, message matcher), IsOk(), ASSERT_OK, EXPECT_OK: Debian's abseil has none.
#ifndef ROWAN_TESTS_STATUS_MATCHERS_H_
#define ROWAN_TESTS_STATUS_MATCHERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowan::testing {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

MATCHER_P2(StatusIs, code, message, "") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()), result_listener);
}

MATCHER(IsOk, "") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

}  // namespace rowan::testing

#define ASSERT_OK(expr) ASSERT_THAT((expr), ::rowan::testing::IsOk())
#define EXPECT_OK(expr) EXPECT_THAT((expr), ::rowan::testing::IsOk())

#endif  // ROWAN_TESTS_STATUS_MATCHERS_H_
