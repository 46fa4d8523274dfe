#include "common/digest.h"

#include <cstring>
#include <string>
#include <vector>

#include "common/row_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kTable = DigestTable::Kind::kTable;
constexpr auto kDense = DigestTable::Kind::kDense;

std::string Block(uint64_t key, uint32_t count, uint64_t step, const std::vector<float>& floats, uint16_t flags = 0) {
  std::string block(kRowHeaderBytes + 4 * floats.size(), '\0');
  StoreRowHeader({key, count, step, flags}, &block[0]);
  if (!floats.empty()) std::memcpy(&block[kRowHeaderBytes], floats.data(), 4 * floats.size());
  return block;
}

Digest Of(DigestTable::Kind kind, absl::string_view name, const std::string& block) {
  Digest digest;
  digest.AddRow(DigestTable(kind, name), block.data(), block.size());
  return digest;
}

// Computed by Python's xxhash 3.2.0 from the header's text, the second by `xxhsum -H2` over its 50 bytes as well.
TEST(DigestTest, VectorsHoldForEver) {
  std::vector<float> many(128);
  for (int i = 0; i < 128; ++i) many[i] = 0.25f * i;
  const struct {
    DigestTable::Kind kind;
    absl::string_view name;
    std::string block, hex;
  } vectors[] = {
      {kTable, "", Block(0, 0, 0, {}), "73201f60a5b0b3fe9de7744cc24e7477"},
      {kTable, "users", Block(~uint64_t{0}, 1, 2, {1.5f}), "de66bf9aeea52d0af812c6113600707a"},
      {kDense, "users", Block(~uint64_t{0}, 1, 2, {1.5f}), "08a2255ed3512e028be89b5c7543b518"},
      {kTable, "users", Block(7, 0xffffffff, kMaxLastStep, many), "0332e15970909f02764b50a23d4f1fc3"},
  };
  Digest sum;
  for (const auto& v : vectors) {
    EXPECT_EQ(Of(v.kind, v.name, v.block).ToHex(), v.hex);
    sum.AddRow(DigestTable(v.kind, v.name), v.block.data(), v.block.size());
  }
  EXPECT_EQ(sum.ToHex(), "5d5be5b3d837ae0e982e265caae1b9cc");
  EXPECT_EQ(Digest().ToHex(), std::string(32, '0'));
}

TEST(DigestTest, OrderAndGroupingDoNotMatter) {
  const DigestTable users(kTable, "users"), items(kTable, "items");
  Digest forward, backward, even, odd;
  for (int i = 0; i < 1000; ++i) {
    const std::string block = Block(i, i, i, std::vector<float>(i % 40, 0.5f));
    forward.AddRow(i % 3 ? users : items, block.data(), block.size());
    (i % 2 ? odd : even).AddRow(i % 3 ? users : items, block.data(), block.size());
  }
  for (int i = 999; i >= 0; --i) {
    const std::string block = Block(i, i, i, std::vector<float>(i % 40, 0.5f));
    backward.AddRow(i % 3 ? users : items, block.data(), block.size());
  }
  EXPECT_EQ(forward, backward);
  even.Add(odd);
  EXPECT_EQ(forward, even);
  EXPECT_NE(forward, odd);
}

TEST(DigestTest, EveryBitOfARowCountsExceptItsFlags) {
  const std::string block = Block(1, 2, 3, std::vector<float>(9, 0.0f));
  const Digest original = Of(kTable, "users", block);
  for (size_t bit = 0; bit < 8 * block.size(); ++bit) {
    std::string changed = block;
    changed[bit / 8] ^= 1 << bit % 8;
    const bool flag = bit / 8 == 18 || bit / 8 == 19;
    EXPECT_EQ(Of(kTable, "users", changed) == original, flag) << "bit " << bit;
  }
  EXPECT_NE(Of(kTable, "users", block + std::string(4, '\0')), original);
}

TEST(DigestTest, TableAndKindCount) {
  const std::string block = Block(1, 2, 3, {1});
  EXPECT_NE(Of(kTable, "a", block), Of(kTable, "b", block));
  EXPECT_NE(Of(kTable, "a", block), Of(kDense, "a", block));
}

TEST(DigestTest, TwoEqualRowsDoNotCancel) {
  const std::string block = Block(1, 2, 3, {1});
  Digest twice = Of(kTable, "a", block);
  twice.Add(twice);
  EXPECT_NE(twice, Digest());
  EXPECT_NE(twice, Of(kTable, "a", block));
}

TEST(DigestTest, ParsesWhatItPrints) {
  const Digest digest = Of(kTable, "users", Block(1, 2, 3, {1}));
  const auto parsed = Digest::Parse(digest.ToHex());
  ASSERT_OK(parsed);
  EXPECT_EQ(*parsed, digest);
  EXPECT_EQ(Digest::Parse("00000000000000FF0123456789abcdef")->ToHex(), "00000000000000ff0123456789abcdef");
  for (const std::string& bad : {std::string(), std::string(31, '0'), std::string(33, '0'), "g" + std::string(31, '0'),
                                 std::string(32, ' '), "0x" + std::string(30, '0'), "-" + std::string(31, '1')}) {
    EXPECT_THAT(Digest::Parse(bad), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("32 hexadecimal digits")))
        << bad;
  }
}

}  // namespace
}  // namespace rowan
