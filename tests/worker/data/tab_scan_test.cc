#include "worker/data/tab_scan.h"

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
TEST(TabScanTest, FindsTheFirstTabsOfAnyLine) {
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

}  // namespace
}  // namespace rowan
