#include "worker/train/profile.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowan {
namespace {

using ::testing::ContainsRegex;

TEST(ProfileTest, TableTellsSecondsShareAndTimeASampleOfAllRanks) {
  Profile profile, other;
  profile.Add(Profile::kPull, absl::Seconds(1));
  profile.Add(Profile::kPull, absl::Milliseconds(500));
  other.Add(Profile::kPull, absl::Milliseconds(500));
  other.Add(Profile::kPush, absl::Milliseconds(100));
  profile.Merge(other);
  EXPECT_EQ(profile.time(Profile::kPull), absl::Seconds(2));
  const std::string table = profile.Table(absl::Seconds(4), /*samples=*/1000);
  EXPECT_THAT(table, ContainsRegex("\npull +2.000 +50.0% +2000.000\n"));
  EXPECT_THAT(table, ContainsRegex("\npush +0.100 +2.5% +100.000\n"));
  for (const char* phase : {"read", "deduplicate", "wait for data", "forward", "backward"}) {
    EXPECT_THAT(table, ContainsRegex(std::string("\n") + phase + " +0.000 +0.0% +0.000\n"));
  }
}

TEST(ProfileTest, NothingDoneDividesByNothing) {
  EXPECT_THAT(Profile().Table(absl::ZeroDuration(), 0), ContainsRegex("\npull +0.000 +0.0% +0.000\n"));
}

}  // namespace
}  // namespace rowan
