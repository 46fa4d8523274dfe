// Vectors of the frozen functions, made by an implementation of their own: they hold for ever.
#include "common/hash.h"

#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace rowan {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(HashTest, Mix64IsFrozen) {
  EXPECT_EQ(Mix64(0), 0u);
  EXPECT_EQ(Mix64(1), 0x5692161d100b05e5u);
  EXPECT_EQ(Mix64(kMax), 0xb4d055fcf2cbbd7bu);
}

TEST(HashTest, RandomBitsAreThoseOfSplitMix64) {
  EXPECT_EQ(RandomBits(0, 0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(RandomBits(0, 1), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(RandomBits(7, 41), 0xeb7a07aacd555fc9u);
  EXPECT_EQ(RandomBits(kMax, kMax), 0xb4d055fcf2cbbd7bu);
}

TEST(HashTest, KeyHashIsFrozen) {
  EXPECT_EQ(KeyHash(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(KeyHash(1), 0x910a2dec89025cc1u);
  EXPECT_EQ(KeyHash(2), 0x975835de1c9756ceu);
  EXPECT_EQ(KeyHash(12345), 0x22118258a9d111a0u);
  EXPECT_EQ(KeyHash(uint64_t{1} << 63), 0x481ec0a212a9f3dbu);
  EXPECT_EQ(KeyHash(kMax), 0xe4d971771b652c20u);
}

TEST(HashTest, BytesHashIsFrozen) {
  EXPECT_EQ(BytesHash(0, ""), 0u);
  EXPECT_EQ(BytesHash(0, "a"), 0x4cd3b69d188e71bdu);
  EXPECT_EQ(BytesHash(0, absl::string_view("a\0", 2)), 0xcdebfa61a2f2e96cu);
  EXPECT_EQ(BytesHash(0, "abcdefgh"), 0x63e4b82384ee14abu);
  EXPECT_EQ(BytesHash(0, "abcdefghi"), 0xfe13f6a65a0f5c82u);
  EXPECT_EQ(BytesHash(5, "abcdefghi"), 0xe027d617f11341bfu);
  EXPECT_EQ(BytesHash(kMax, "the quick brown fox"), 0x803da13c31f01ab8u);
}

}  // namespace
}  // namespace rowan
