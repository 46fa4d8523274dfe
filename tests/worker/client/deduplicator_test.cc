#include "worker/client/deduplicator.h"

#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/table/keys.h"

namespace rowan {
namespace {

// Runs `keys` after what is in `distinct`, beside a std::map.
void Check(Deduplicator* deduplicator, const std::vector<uint64_t>& keys, std::vector<uint64_t>* distinct,
           std::vector<uint32_t>* occurrences) {
  std::vector<uint64_t> expected_distinct = *distinct;
  std::vector<uint32_t> expected_occurrences = *occurrences, expected_places, places(keys.size(), 99);
  std::map<uint64_t, uint32_t> model;
  for (const uint64_t key : keys) {
    const auto [it, is_new] = model.try_emplace(key, expected_distinct.size());
    if (is_new) {
      expected_distinct.push_back(key);
      expected_occurrences.push_back(0);
    }
    ++expected_occurrences[it->second];
    expected_places.push_back(it->second);
  }
  deduplicator->Run(keys, distinct, occurrences, absl::MakeSpan(places));
  ASSERT_EQ(*distinct, expected_distinct);
  ASSERT_EQ(*occurrences, expected_occurrences);
  ASSERT_EQ(places, expected_places);
}

TEST(DeduplicatorTest, FindsDistinctKeysInOrderOfFirstAppearance) {
  std::mt19937_64 random(8);
  Deduplicator deduplicator;  // One for all: nothing of one batch may be seen in the next.
  for (int round = 0; round < 400; ++round) {
    std::vector<uint64_t> distinct;
    std::vector<uint32_t> occurrences;
    for (int column = 0; column < 3; ++column) {  // Each appends; the same keys again are new ones.
      std::vector<uint64_t> keys(round % 50 == 0 ? 20000 : random() % 300);
      for (uint64_t& key : keys) {
        switch (random() % 3) {
          case 0:
            key = testing::OddKeys()[random() % 16];
            break;
          case 1:
            key = testing::KeyOfHash(random() % 100 << 40 | 3);
            break;  // one place in the table for all
          default:
            key = random() % 1000;
        }
      }
      Check(&deduplicator, keys, &distinct, &occurrences);
      if (HasFatalFailure()) FAIL() << "round " << round;
    }
  }
}

TEST(DeduplicatorTest, NoKeysAreNoKeys) {
  Deduplicator deduplicator;
  std::vector<uint64_t> distinct;
  std::vector<uint32_t> occurrences;
  Check(&deduplicator, {}, &distinct, &occurrences);
  EXPECT_TRUE(distinct.empty());
  Check(&deduplicator, {0, 0}, &distinct, &occurrences);
}

}  // namespace
}  // namespace rowan
