#include "worker/data/byte_scan.h"

#include <cctype>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/hash.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace rowan {
namespace {

// On every instruction set, and on a heap block of exactly its size, so that the address sanitizer sees a byte read too
// many.
TEST(ByteScanTest, FindsTheFirstTabsOfAnyLine) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const size_t size = RandomBits(seed, 1 << 20) % 300;
    const uint64_t rarity = 1 + RandomBits(seed, 1 << 21) % 40;
    const auto line = std::make_unique<char[]>(size);
    std::vector<size_t> all;
    for (size_t i = 0; i < size; ++i) {
      line[i] = RandomBits(seed, i) % rarity == 0 ? '\t' : "\0\b\n\x89"[RandomBits(seed, i) % 4];
      if (line[i] == '\t') all.push_back(i);
    }
    const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
    hwy::SetSupportedTargetsForTest(targets[seed % targets.size()]);
    for (const int limit : {1, 5, 40, 400}) {
      std::vector<size_t> tabs(limit + kTabScanSlack);
      tabs.resize(FindTabs(absl::string_view(line.get(), size), limit, tabs.data()));
      std::vector<size_t> expected = all;
      if (expected.size() > static_cast<size_t>(limit)) expected.resize(limit);
      EXPECT_EQ(tabs, expected) << "seed " << seed << " limit " << limit;
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(ByteScanTest, AcceptsHexDigitsAndTabsOnly) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (size_t size = 0; size < 150; ++size) {
      const auto bytes = std::make_unique<char[]>(size);
      for (size_t i = 0; i < size; ++i) bytes[i] = "0123456789abcdefABCDEF\t"[RandomBits(size, i) % 23];
      EXPECT_TRUE(IsHexOrTabs(absl::string_view(bytes.get(), size)));
    }
    const size_t size = 131;
    const auto bytes = std::make_unique<char[]>(size);
    std::memset(bytes.get(), '\t', size);
    for (const size_t at : {0, 1, 31, 63, 64, 127, 128, 130}) {
      for (int byte = 0; byte < 256; ++byte) {
        bytes[at] = static_cast<char>(byte);
        const bool good = byte == '\t' || (byte < 128 && std::isxdigit(byte));
        EXPECT_EQ(IsHexOrTabs(absl::string_view(bytes.get(), size)), good) << at << " " << byte;
      }
      bytes[at] = 'f';
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace rowan
