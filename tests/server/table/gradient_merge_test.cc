#include "server/table/gradient_merge.h"

#include <map>
#include <random>
#include <vector>

#include "common/hash.h"
#include "gtest/gtest.h"
#include "tests/server/table/keys.h"

namespace rowan {
namespace {

struct Part {
  std::vector<uint64_t> keys;
  std::vector<uint32_t> occurrences;  // or empty
  std::vector<float> gradients;
};

void CheckAgainstAMap(GradientMerge* merge, int64_t width, const std::vector<Part>& parts, int64_t expected_keys) {
  merge->Reset(width, expected_keys);
  std::map<uint64_t, std::vector<float>> sums;
  std::map<uint64_t, uint64_t> occurrences;
  std::vector<uint64_t> order;
  for (const Part& part : parts) {
    merge->Add(part.keys, part.occurrences, part.gradients.data());
    for (size_t i = 0; i < part.keys.size(); ++i) {
      const float* gradient = part.gradients.data() + i * width;
      const auto [it, is_new] = sums.try_emplace(part.keys[i], gradient, gradient + width);
      if (is_new) {
        order.push_back(part.keys[i]);
      } else {
        for (int64_t e = 0; e < width; ++e) it->second[e] += gradient[e];
      }
      occurrences[part.keys[i]] += part.occurrences.empty() ? 1 : part.occurrences[i];
    }
  }
  ASSERT_EQ(merge->sums().size(), order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const GradientMerge::Sum& sum = merge->sums()[i];
    ASSERT_EQ(sum.key, order[i]);
    ASSERT_EQ(sum.hash, KeyHash(order[i]));
    ASSERT_EQ(sum.occurrences, occurrences[order[i]]);
    ASSERT_EQ(std::vector<float>(sum.gradient, sum.gradient + width), sums[order[i]]) << "key " << order[i];
  }
}

TEST(GradientMergeTest, SumsInTheOrderGivenToTheBit) {
  std::mt19937_64 random(9);
  std::normal_distribution<float> normal(0, 1e-6f);
  GradientMerge merge;  // One for all rounds: nothing of one may be left in the next.
  for (int round = 0; round < 200; ++round) {
    const int64_t width = 1 + random() % 40;
    const uint64_t distinct = 1 + random() % (round % 10 == 0 ? 3000 : 30);
    std::vector<Part> parts(random() % 5);
    for (Part& part : parts) {
      const size_t n = random() % (round % 10 == 0 ? 4000 : 60);
      for (size_t i = 0; i < n; ++i) {
        const uint64_t which = random() % distinct;
        // Half of the keys share the low bits of their hash, which choose the place.
        part.keys.push_back(which < 16       ? testing::OddKeys()[which]
                            : which % 2 == 0 ? testing::KeyOfHash(which << 32 | 5)
                                             : which);
        for (int64_t e = 0; e < width; ++e) part.gradients.push_back(normal(random));
        if (round % 2 == 0) part.occurrences.push_back(random() % 100);
      }
    }
    CheckAgainstAMap(&merge, width, parts, random() % 100);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(GradientMergeTest, AKeyThatComesOnceIsNotCopied) {
  const std::vector<uint64_t> keys = {3, 4};
  const std::vector<float> gradients = {1, 2, 3, 4};
  GradientMerge merge;
  merge.Reset(2, 2);
  merge.Add(keys, {}, gradients.data());
  EXPECT_EQ(merge.sums()[0].gradient, gradients.data());
  EXPECT_EQ(merge.sums()[1].gradient, gradients.data() + 2);
  merge.Add(keys, {}, gradients.data());
  EXPECT_EQ(merge.sums()[1].gradient[1], 8);
  EXPECT_EQ(gradients, (std::vector<float>{1, 2, 3, 4})) << "the caller's memory stays as it is";
}

}  // namespace
}  // namespace rowan
