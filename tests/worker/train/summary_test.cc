#include "worker/train/summary.h"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
std::string JsonOf(T value) {
  Summary summary;
  summary.Add("x", value);
  return summary.ToJson();
}

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(SummaryTest, FieldsStandInTheOrderOfTheCalls) {
  Summary summary;
  EXPECT_EQ(summary.ToJson(), "{}");
  summary.Add("b", int64_t{1});
  summary.Add("a", "text");
  summary.Add("c", 0.5);
  EXPECT_EQ(summary.ToJson(), R"({"b": 1, "a": "text", "c": 0.5})");
}

TEST(SummaryTest, DoublesReadBackToTheLastBit) {
  for (const double value : {0.1, 1.0 / 3, 0.7851234567890123, 1e300, 5e-324, -0.0}) {
    const std::string json = JsonOf(value);
    ASSERT_THAT(json, StartsWith("{\"x\": "));
    EXPECT_EQ(std::strtod(json.c_str() + 6, nullptr), value) << json;
  }
  EXPECT_EQ(JsonOf(1.0 / 3), R"({"x": 0.33333333333333331})");
}

TEST(SummaryTest, EachTypeGoesToItsOwnForm) {
  EXPECT_EQ(JsonOf(int64_t{9007199254740993}), R"({"x": 9007199254740993})");  // 2^53 + 1: no double
  EXPECT_EQ(JsonOf(std::numeric_limits<int64_t>::min()), R"({"x": -9223372036854775808})");
  EXPECT_EQ(JsonOf(2.75), R"({"x": 2.75})");
  EXPECT_EQ(JsonOf(2.75f), R"({"x": 2.75})");
  EXPECT_EQ(JsonOf(absl::optional<double>(2.75)), R"({"x": 2.75})");
  EXPECT_EQ(JsonOf("1"), R"({"x": "1"})");
  EXPECT_EQ(JsonOf(std::string("1")), R"({"x": "1"})");
}

TEST(SummaryTest, WhatIsNoNumberIsNull) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
    EXPECT_EQ(JsonOf(value), R"({"x": null})");
    EXPECT_EQ(JsonOf(absl::optional<double>(value)), R"({"x": null})");
  }
  EXPECT_EQ(JsonOf(absl::optional<double>()), R"({"x": null})");
}

TEST(SummaryTest, QuotesAndControlCharactersAreEscaped) {
  Summary summary;
  summary.Add("na\"me", absl::string_view("a\"b\\c\n\t\x01\0z\x1f\x7f\xc3\xa9", 14));
  EXPECT_EQ(summary.ToJson(), "{\"na\\\"me\": \"a\\\"b\\\\c\\u000a\\u0009\\u0001\\u0000z\\u001f\x7f\xc3\xa9\"}");
}

TEST(SummaryTest, WriteReplacesTheFileAsAWhole) {
  const std::string path = ::testing::TempDir() + "/summary.json";
  std::ofstream(path) << "something longer that was here before";
  Summary summary;
  summary.Add("x", int64_t{1});
  ASSERT_OK(summary.Write(path));
  EXPECT_EQ(Contents(path), "{\"x\": 1}\n");
  EXPECT_OK(summary.Write(""));
}

TEST(SummaryTest, AFailedWriteNamesThePath) {
  const std::string path = ::testing::TempDir() + "/no/such/folder.json";
  EXPECT_THAT(Summary().Write(path), StatusIs(absl::StatusCode::kNotFound, StartsWith(path + ": ")));
  EXPECT_THAT(Summary().Write("/dev/full"), StatusIs(absl::StatusCode::kResourceExhausted, StartsWith("/dev/full: ")));
}

}  // namespace
}  // namespace rowan
