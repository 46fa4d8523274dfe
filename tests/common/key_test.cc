#include "common/key.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace rowan {
namespace {

std::string Unquote(const std::string& text) { return text.substr(1, text.size() - 2); }

TEST(KeyTest, VectorsHoldForEver) {
  std::ifstream vectors("tests/common/key_vectors.txt");
  int count = 0;
  for (std::string line; std::getline(vectors, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string feature, id, key;
    fields >> feature >> id >> key;
    const uint64_t expected = std::stoull(key, nullptr, 16);
    if (id[0] == '\'') {
      EXPECT_EQ(Key(Unquote(feature), absl::string_view(Unquote(id))), expected) << line;
    } else {
      EXPECT_EQ(Key(Unquote(feature), uint64_t{std::stoull(id)}), expected) << line;
    }
    ++count;
  }
  EXPECT_EQ(count, 7);
}

TEST(KeyTest, TheFeatureIsPartOfTheKey) { EXPECT_NE(Key("C1", "68fd1e64"), Key("C2", "68fd1e64")); }

TEST(KeyTest, TheLengthIsPartOfTheKey) {
  EXPECT_NE(Key("C1", absl::string_view("a", 1)), Key("C1", absl::string_view("a\0", 2)));
  EXPECT_NE(Key("C1", absl::string_view("")), Key("C1", absl::string_view("\0", 1)));
}

TEST(KeyTest, NumbersOfOneFeatureNeverCollide) {
  std::set<uint64_t> keys;
  const Feature feature("item");
  for (uint64_t id = 0; id < 100000; ++id) keys.insert(feature.Key(id));
  for (uint64_t id = ~uint64_t{0}; id > ~uint64_t{0} - 100000; --id) keys.insert(feature.Key(id));
  EXPECT_EQ(keys.size(), 200000u);
}

}  // namespace
}  // namespace rowan
