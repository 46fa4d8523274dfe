#include "server/table/row_index.h"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/table/keys.h"

namespace rowan {
namespace {

// An index with the hashes of its slots, beside a std::map of what must be in it.
class Modelled {
 public:
  void Insert(uint64_t key, uint64_t hash) {
    const uint32_t slot = static_cast<uint32_t>(keys_.size());
    keys_.push_back(key);
    hashes_.push_back(hash);
    index_.Insert(hash, slot, [this](uint32_t s) { return hashes_[s]; });
    model_[key] = slot;
  }
  void Erase(uint64_t key) {
    const uint32_t slot = model_.at(key);
    ASSERT_TRUE(index_.Erase(hashes_[slot], slot));
    ASSERT_FALSE(index_.Erase(hashes_[slot], slot)) << "erased twice";
    model_.erase(key);
  }
  uint32_t Find(uint64_t key, uint64_t hash) const {
    return index_.Find(hash, [&](uint32_t slot) { return keys_[slot] == key; });
  }
  void Check(uint64_t key, uint64_t hash) const {
    const auto expected = model_.find(key);
    EXPECT_EQ(Find(key, hash), expected == model_.end() ? RowIndex::kNone : expected->second) << "key " << key;
    if (expected != model_.end()) {
      EXPECT_NE(index_.Candidate(hash), RowIndex::kNone) << "key " << key;
    }
  }
  void CheckAll() const {
    EXPECT_EQ(index_.size(), static_cast<int64_t>(model_.size()));
    for (const auto& [key, slot] : model_) ASSERT_EQ(Find(key, hashes_[slot]), slot) << "key " << key;
    std::vector<uint32_t> visited, expected;
    index_.ForEach([&](uint32_t slot) { visited.push_back(slot); });
    for (const auto& [key, slot] : model_) expected.push_back(slot);
    std::sort(visited.begin(), visited.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(visited, expected);
  }
  const std::map<uint64_t, uint32_t>& model() const { return model_; }
  const RowIndex& index() const { return index_; }

 private:
  RowIndex index_;
  std::vector<uint64_t> keys_, hashes_;
  std::map<uint64_t, uint32_t> model_;
};

TEST(RowIndexTest, EmptyIndexHasNothing) {
  RowIndex index;
  for (const uint64_t hash : testing::OddKeys()) {
    index.Prefetch(hash);
    EXPECT_EQ(index.Candidate(hash), RowIndex::kNone);
    EXPECT_EQ(index.Find(hash, [](uint32_t) { return true; }), RowIndex::kNone);
    EXPECT_FALSE(index.Erase(hash, 0));
  }
  index.ForEach([](uint32_t) { FAIL(); });
  EXPECT_EQ(index.size(), 0);
  EXPECT_EQ(index.allocated_bytes(), 0);
}

TEST(RowIndexTest, EveryHashIsLegal) {
  Modelled modelled;
  for (const uint64_t key : testing::OddKeys()) modelled.Insert(key, key);  // The keys serve as hashes.
  modelled.CheckAll();
  for (const uint64_t key : testing::OddKeys()) {
    modelled.Erase(key);
    modelled.Check(key, key);
  }
  modelled.CheckAll();
}

// Ways to hash that go from even to hostile: all keys in a few buckets, all with one fingerprint, all with one hash.
uint64_t HashOf(int way, uint64_t key) {
  const uint64_t spread = key * 0x9e3779b97f4a7c15u;
  switch (way) {
    case 0:
      return spread;
    case 1:
      return (spread >> 61) << 61 | (spread & 0xffffffffu);  // 8 homes
    case 2:
      return (spread & ~uint64_t{0xff000000u}) | 0x7f000000u;  // 1 fingerprint
    case 3:
      return (spread & ~uint64_t{0xff000000u}) | (key & 1) << 24;  // fingerprints 0 and 1 are one
    case 4:
      return ~uint64_t{0} << 32 | (spread & 0xffffffffu);  // the last bucket: chains wrap around
    default:
      return 42;  // nothing but the key tells them apart
  }
}

TEST(RowIndexTest, BehavesLikeAMapWhateverTheHashes) {
  for (int way = 0; way < 6; ++way) {
    SCOPED_TRACE(way);
    Modelled modelled;
    std::mt19937_64 random(17 + way);
    // Few keys at a time for hostile hashes: every operation walks the chain.
    const uint64_t keys = way == 0 || way == 2 || way == 3 ? 6000 : 700;
    for (int op = 0; op < (way == 0 ? 60000 : 12000); ++op) {
      const uint64_t key = random() % keys;
      const bool there = modelled.model().count(key) > 0;
      // Waves of growth and of shrinking.
      if (!there && (op / 3000 % 2 == 0 || random() % 3 == 0)) {
        modelled.Insert(key, HashOf(way, key));
      } else if (there && (op / 3000 % 2 == 1 || random() % 3 == 0)) {
        modelled.Erase(key);
        if (::testing::Test::HasFatalFailure()) return;
      }
      modelled.Check(key, HashOf(way, key));
      const uint64_t other = random() % (2 * keys);
      modelled.Check(other, HashOf(way, other));
      if (op % 3000 == 2999) modelled.CheckAll();
    }
    modelled.CheckAll();
  }
}

TEST(RowIndexTest, FindsAllAfterTheCountOfPassingEntriesSaturated) {
  constexpr uint64_t kCrowd = 2000;  // Far more than 255 entries pass over their home.
  Modelled modelled;
  for (uint64_t key = 0; key < kCrowd; ++key) modelled.Insert(key, 7);
  modelled.CheckAll();
  // If the count had been lowered below what is left, some of these would be lost.
  for (uint64_t key = 0; key < kCrowd - 5; ++key) modelled.Erase(key);
  modelled.CheckAll();
  for (uint64_t key = 5000; key < 5300; ++key) modelled.Insert(key, 7);
  modelled.CheckAll();
  for (uint64_t key = 9000; key < 9010; ++key) modelled.Check(key, 7);
}

TEST(RowIndexTest, InsertingAndErasingForEverNeedsNoMoreMemory) {
  Modelled modelled;
  for (uint64_t key = 0; key < 1000; ++key) modelled.Insert(key, HashOf(0, key));
  const int64_t bytes = modelled.index().allocated_bytes();
  for (uint64_t key = 1000; key < 50000; ++key) {
    modelled.Erase(key - 1000);
    modelled.Insert(key, HashOf(0, key));
  }
  EXPECT_EQ(modelled.index().allocated_bytes(), bytes);
  modelled.CheckAll();
}

TEST(RowIndexTest, CostsAtMost9Point6BytesARowAndGuessesRight) {
  Modelled modelled;
  for (uint64_t key = 0; key < 100000; ++key) {
    modelled.Insert(key, HashOf(0, key));
    if (key >= 2000) {
      ASSERT_LE(modelled.index().allocated_bytes(), 9.7 * (key + 1)) << key;
      ASSERT_GE(modelled.index().allocated_bytes(), 6.3 * (key + 1)) << key;
    }
  }
  int64_t right = 0;
  for (const auto& [key, slot] : modelled.model()) right += modelled.index().Candidate(HashOf(0, key)) == slot;
  EXPECT_GE(right, 95000);
}

}  // namespace
}  // namespace rowan
