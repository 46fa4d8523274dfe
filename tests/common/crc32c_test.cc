#include "common/crc32c.h"

#include <string>

#include "gtest/gtest.h"

namespace rowan {
namespace {

// Bit by bit, from the polynomial.
uint32_t SlowCrc32c(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (const unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

std::string Bytes(size_t n) {
  std::string bytes(n, '\0');
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>(i * i * 31 + i / 7);
  return bytes;
}

TEST(Crc32cTest, HasTheVectorsOfRfc3720) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending(32, '\0');
  for (int i = 0; i < 32; ++i) ascending[i] = static_cast<char>(i);
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eu);
}

TEST(Crc32cTest, EqualsTheBitwiseDefinitionAtEveryLength) {
  for (size_t n = 0; n < 700; ++n) ASSERT_EQ(Crc32c(Bytes(n)), SlowCrc32c(Bytes(n))) << n;
  EXPECT_EQ(Crc32c(Bytes(100'003)), SlowCrc32c(Bytes(100'003)));
}

TEST(Crc32cTest, PiecesGiveTheWhole) {
  const std::string bytes = Bytes(300);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const absl::string_view view = bytes;
    EXPECT_EQ(ExtendCrc32c(Crc32c(view.substr(0, cut)), view.substr(cut)), Crc32c(bytes)) << cut;
  }
}

}  // namespace
}  // namespace rowan
