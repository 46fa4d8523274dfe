// Where a pull's reply goes, and that one which does not fit goes nowhere.
#include <string>
#include <vector>

#include "common/wire/data_reply.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Floats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

class ScatterTest : public ::testing::Test {
 protected:
  // The reply's bytes one by one: everything straddles.
  absl::Status Scatter() {
    const std::string bytes = reply.SerializeAsString();
    std::vector<absl::string_view> pieces;
    for (const char& byte : bytes) pieces.emplace_back(&byte, 1);
    const ByteChain chain(std::move(pieces));
    const auto parsed = ParseReply(chain);
    if (!parsed.ok()) return parsed.status();
    return ScatterPull(chain, *parsed, request);
  }
  void ExpectUnfit() {
    EXPECT_THAT(Scatter(), StatusIs(absl::StatusCode::kInternal, HasSubstr("does not fit")));
    EXPECT_THAT(rows, Each(-7));
    EXPECT_THAT(outcomes, Each(Outcome::kSpilled));
  }

  proto::DataReply reply;
  PullRequest request;
  std::vector<uint64_t> keys = {5, 6};
  std::vector<uint32_t> places = {3, 1};
  std::vector<float> rows = std::vector<float>(8, -7);
  std::vector<Outcome> outcomes = std::vector<Outcome>(4, Outcome::kSpilled);
};

TEST_F(ScatterTest, RowsAndOutcomesGoToTheirPlaces) {
  request.tables.push_back({1, keys, absl::MakeSpan(rows), absl::MakeSpan(outcomes), places});
  proto::TableRows* const table = reply.mutable_pull()->add_tables();
  table->set_rows(Floats({1, 2, 3, 4}));
  table->set_outcomes(std::string("\0\1", 2));
  ASSERT_OK(Scatter());
  EXPECT_THAT(rows, ElementsAre(-7, -7, 3, 4, -7, -7, 1, 2));
  EXPECT_THAT(outcomes, ElementsAre(Outcome::kSpilled, Outcome::kAbsent, Outcome::kSpilled, Outcome::kFound));
}

TEST_F(ScatterTest, DenseBlocksAreTakenApart) {
  std::vector<float> a(2), b(1), c(1);
  request.dense = {{4, 0, absl::MakeSpan(a)}, {4, 1, absl::MakeSpan(b)}, {5, 0, absl::MakeSpan(c)}};
  reply.mutable_pull()->add_dense()->set_values(Floats({1, 2, 3}));
  reply.mutable_pull()->add_dense()->set_values(Floats({4}));
  ASSERT_OK(Scatter());
  EXPECT_THAT(a, ElementsAre(1, 2));
  EXPECT_THAT(b, ElementsAre(3));
  EXPECT_THAT(c, ElementsAre(4));
  reply.mutable_pull()->mutable_dense(1)->set_values(Floats({4, 5}));
  EXPECT_THAT(Scatter(), StatusIs(absl::StatusCode::kInternal, HasSubstr("dense parameter 5")));
}

TEST_F(ScatterTest, RepliesOfOtherSizesWriteNothing) {
  request.tables.push_back({1, keys, absl::MakeSpan(rows), absl::MakeSpan(outcomes), places});
  reply.mutable_pull();
  ExpectUnfit();  // No table.
  proto::TableRows* const table = reply.mutable_pull()->add_tables();
  table->set_outcomes(std::string("\0\1", 2));
  ExpectUnfit();  // No rows.
  table->set_rows(Floats({1, 2, 3}));
  ExpectUnfit();  // Not the same for each key.
  table->set_rows(Floats({1, 2, 3, 4, 5, 6}));
  ExpectUnfit();  // Place 3 is beyond the room for rows of width 3.
  table->set_rows(Floats({1, 2, 3, 4}));
  table->set_outcomes("\1");
  ExpectUnfit();
  table->set_outcomes(std::string("\0\1", 2));
  request.tables[0].width = 3;
  ExpectUnfit();  // Another width than the request's.
  request.tables[0].width = 2;
  EXPECT_OK(Scatter());
}

}  // namespace
}  // namespace rowan
