#include "server/table/table_schema.h"

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/table/catalog_name.h"
#include "server/table/dense_schema.h"
#include "tests/server/table/keys.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;

// 1 x FTRL, 16 x Adagrad with normal values.
proto::TableSpec Ads() {
  proto::TableSpec spec;
  spec.set_name("ads");
  proto::Slice* first = spec.add_slices();
  first->set_name("w");
  first->set_width(1);
  first->mutable_optimizer()->set_kind(proto::Optimizer::FTRL);
  proto::Slice* second = spec.add_slices();
  second->set_name("v");
  second->set_width(16);
  second->mutable_initializer()->set_kind(proto::Initializer::NORMAL);
  second->mutable_initializer()->set_scale(0.01f);
  second->mutable_optimizer()->set_kind(proto::Optimizer::ADAGRAD);
  return spec;
}

proto::DenseSpec Tower(uint64_t size) {
  proto::DenseSpec spec;
  spec.set_name("tower");
  spec.set_size(size);
  spec.mutable_initializer()->set_kind(proto::Initializer::UNIFORM);
  spec.mutable_initializer()->set_scale(1);
  spec.mutable_optimizer()->set_kind(proto::Optimizer::ADAM);
  return spec;
}

TEST(CatalogNameTest, NamesAreUtf8OfOneTo255Bytes) {
  for (const char* good : {"a", "x\x7f", "\u00e9", "\u20ac", "\U0001f600", "\u07ff\u0800\uffff\U00010000\U0010ffff"}) {
    EXPECT_OK(CheckCatalogName("a table", good)) << good;
  }
  for (const char* bad : {"\x80", "a\xff", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf5\x80\x80\x80", "\xe2\x82", "\xc3(", "\xf0\x8f\xbf\xbf"}) {
    EXPECT_THAT(CheckCatalogName("a table", bad), StatusIs(kInvalid, HasSubstr("a table's name is not UTF-8: '")));
  }
  EXPECT_OK(CheckCatalogName("a table", std::string(255, 'x')));
  EXPECT_THAT(CheckCatalogName("a table", std::string(256, 'x')),
              StatusIs(kInvalid, "a table's name has 256 bytes, must have 1 to 255"));
  EXPECT_THAT(CheckCatalogName("a table", ""), StatusIs(kInvalid, "a table's name has 0 bytes, must have 1 to 255"));
}

TEST(TableSchemaTest, NamesWhatIsWrongInASpec) {
  const std::vector<std::pair<std::function<void(proto::TableSpec*)>, std::string>> cases = {
      {[](auto* s) { s->clear_name(); }, "a table's name has 0 bytes"},
      {[](auto* s) { s->clear_slices(); }, "table 'ads' has 0 slices, must have 1 to 16"},
      {[](auto* s) {
         for (int i = 0; i < 15; ++i) s->add_slices();
       },
       "table 'ads' has 17 slices, must have 1 to 16"},
      {[](auto* s) { s->set_absent(static_cast<proto::TableSpec::Absent>(7)); },
       "table 'ads' has an unknown `absent` 7"},
      {[](auto* s) { s->mutable_slices(1)->set_width(0); }, "table 'ads' slice 1 'v' has width 0, must be 1 to 4096"},
      {[](auto* s) { s->mutable_slices(0)->set_width(4097); }, "slice 0 'w' has width 4097, must be 1 to 4096"},
      {[](auto* s) { s->mutable_slices(1)->set_name("w"); },
       "table 'ads' slice 1 'w' has the name of an earlier slice"},
      {[](auto* s) { s->mutable_slices(1)->set_name("\xff"); }, "table 'ads' slice 1 '\\xff' has a name that is not"},
      {[](auto* s) { s->mutable_slices(1)->mutable_initializer()->set_scale(-1); }, "table 'ads' slice 1 'v': "},
      {[](auto* s) { s->mutable_slices(0)->mutable_optimizer()->set_learning_rate(-1); }, "table 'ads' slice 0 'w': "},
  };
  ASSERT_OK(TableSchema::Create(1, Ads(), 1));
  for (const auto& [spoil, message] : cases) {
    proto::TableSpec spec = Ads();
    spoil(&spec);
    EXPECT_THAT(TableSchema::Create(1, spec, 1), StatusIs(kInvalid, HasSubstr(message)));
  }
}

TEST(TableSchemaTest, ARowsFirstValueDependsOnSeedAndKeyAlone) {
  const TableSchema a = *TableSchema::Create(1, Ads(), 5);
  proto::TableSpec renamed = Ads();
  renamed.set_name("other");
  renamed.mutable_slices(1)->mutable_optimizer()->set_learning_rate(0.5f);
  const TableSchema b = *TableSchema::Create(9, renamed, 5);
  const TableSchema other_seed = *TableSchema::Create(1, Ads(), 6);
  EXPECT_EQ(a.width(), 17);
  EXPECT_EQ(a.row_bytes(), 20 + 4 * (17 + 2 + 16));
  for (const uint64_t key : testing::OddKeys()) {
    std::string block_a(a.row_bytes(), 'x'), block_b(b.row_bytes(), 'y'), block_c(a.row_bytes(), 'z');
    a.InitBlock(key, block_a.data());
    b.InitBlock(key, block_b.data());
    other_seed.InitBlock(key, block_c.data());
    EXPECT_EQ(block_a, block_b) << "every byte is written, by the same rule";
    EXPECT_NE(block_a, block_c);
    const RowHeader header = LoadRowHeader(block_a.data());
    EXPECT_EQ(header.key, key);
    EXPECT_EQ(header.update_count, 0u);
    EXPECT_EQ(header.last_step, 0u);
    std::vector<float> pulled(17), stored(17);
    a.FillAbsent(key, pulled.data());
    std::memcpy(stored.data(), block_a.data() + kRowHeaderBytes, 17 * sizeof(float));
    EXPECT_EQ(pulled, stored);
  }
}

TEST(TableSchemaTest, AbsentRowsAreZerosWhereTheTableSaysSo) {
  proto::TableSpec spec = Ads();
  spec.set_absent(proto::TableSpec::ZERO);
  const TableSchema schema = *TableSchema::Create(1, spec, 5);
  std::vector<float> pulled(17, 3.0f);
  schema.FillAbsent(42, pulled.data());
  EXPECT_EQ(pulled, std::vector<float>(17, 0.0f));
}

TEST(TableSchemaTest, CountsUpdatesAndStopsAtTheLargestCountAndStep) {
  const TableSchema schema = *TableSchema::Create(1, Ads(), 5);
  std::string block(schema.row_bytes(), '\0');
  const std::vector<float> gradient(17, 1e-3f);
  schema.InitBlock(8, block.data());
  schema.UpdateBlock(gradient.data(), 12, block.data());
  EXPECT_EQ(LoadRowHeader(block.data()).update_count, 1u);
  EXPECT_EQ(LoadRowHeader(block.data()).last_step, 12u);
  StoreRowHeader({8, 0xfffffffeu, 0, 0}, block.data());
  for (int i = 0; i < 3; ++i) schema.UpdateBlock(gradient.data(), ~uint64_t{0}, block.data());
  EXPECT_EQ(LoadRowHeader(block.data()).update_count, 0xffffffffu);
  EXPECT_EQ(LoadRowHeader(block.data()).last_step, kMaxLastStep);
  EXPECT_EQ(LoadRowHeader(block.data()).key, 8u);
}

TEST(TableSchemaTest, IdentityNamesTheFirstDifferenceAndIgnoresTunables) {
  const std::vector<std::pair<std::function<void(proto::TableSpec*)>, std::string>> cases = {
      {[](auto* s) { s->add_slices()->set_width(1); }, "table 'ads' number of slices is 2, not 3"},
      {[](auto* s) { s->set_seed(4); }, "table 'ads' seed is 3, not 4"},
      {[](auto* s) { s->set_absent(proto::TableSpec::ZERO); }, "table 'ads' absent is INITIAL, not ZERO"},
      {[](auto* s) { s->mutable_slices(0)->set_name("x"); }, "table 'ads' slice 0 name is w, not x"},
      {[](auto* s) { s->mutable_slices(1)->set_width(8); }, "table 'ads' slice 1 width is 16, not 8"},
      {[](auto* s) { s->mutable_slices(1)->mutable_initializer()->set_kind(proto::Initializer::ZEROS); },
       "table 'ads' slice 1 initializer is NORMAL, not ZEROS"},
      {[](auto* s) { s->mutable_slices(1)->mutable_initializer()->set_scale(0.5f); },
       "table 'ads' slice 1 initializer scale is 0.01, not 0.5"},
      {[](auto* s) { s->mutable_slices(1)->mutable_optimizer()->set_kind(proto::Optimizer::ADAM); },
       "table 'ads' slice 1 optimizer is ADAGRAD, not ADAM"},
      {[](auto* s) { s->mutable_slices(1)->mutable_optimizer()->set_initial_accumulator(2); },
       "table 'ads' slice 1 initial accumulator is 0, not 2"},
  };
  proto::TableSpec existing = Ads();
  existing.set_seed(3);
  proto::TableSpec same = Ads();  // No seed: whatever the table has.
  same.mutable_slices(1)->mutable_optimizer()->set_learning_rate(0.9f);
  EXPECT_OK(CheckSameIdentity(existing, same));
  for (const auto& [change, message] : cases) {
    proto::TableSpec asked = existing;
    change(&asked);
    EXPECT_THAT(CheckSameIdentity(existing, asked), StatusIs(kFailed, message));
  }
  EXPECT_OK(CheckSameIdentity(Tower(10), Tower(10)));
  EXPECT_THAT(CheckSameIdentity(Tower(10), Tower(11)), StatusIs(kFailed, "dense parameter 'tower' size is 10, not 11"));
}

TEST(DenseSchemaTest, BlocksCoverTheParameterWhateverItsSize) {
  for (const int64_t size : {1, 4095, 4096, 4097, 8192, 10000}) {
    const DenseSchema schema = *DenseSchema::Create(2, Tower(size), 5);
    ASSERT_EQ(schema.blocks(), (size + 4095) / 4096);
    int64_t total = 0;
    for (int64_t block = 0; block < schema.blocks(); ++block) {
      total += schema.BlockSize(block);
      EXPECT_EQ(schema.BlockBytes(block), 20 + 4 * 3 * schema.BlockSize(block));
      std::string bytes(schema.BlockBytes(block), 'x');
      schema.InitBlock(block, bytes.data());
      EXPECT_EQ(LoadRowKey(bytes.data()), static_cast<uint64_t>(block));
      const std::vector<float> gradient(schema.BlockSize(block), 1.0f);
      schema.UpdateBlock(block, gradient.data(), 3, bytes.data());  // Within the block's own bytes, says asan.
      EXPECT_EQ(LoadRowHeader(bytes.data()).update_count, 1u);
    }
    EXPECT_EQ(total, size);
  }
}

TEST(DenseSchemaTest, NamesWhatIsWrongInASpec) {
  EXPECT_THAT(DenseSchema::Create(1, Tower(0), 1), StatusIs(kInvalid, HasSubstr("'tower' has size 0, must be 1")));
  EXPECT_OK(DenseSchema::Create(1, Tower(uint64_t{1} << 30), 1));
  for (const uint64_t size : {(uint64_t{1} << 30) + 1, uint64_t{1} << 36, ~uint64_t{0}}) {
    EXPECT_THAT(DenseSchema::Create(1, Tower(size), 1),
                StatusIs(absl::StatusCode::kResourceExhausted, absl::StrCat("dense parameter 'tower' has size ", size,
                                                                            ", must be 1073741824 floats or less")));
  }
  proto::DenseSpec nameless = Tower(1);
  nameless.set_name("");
  EXPECT_THAT(DenseSchema::Create(1, nameless, 1), StatusIs(kInvalid, HasSubstr("a dense parameter's name has 0")));
  proto::DenseSpec wild = Tower(1);
  wild.mutable_optimizer()->set_beta1(2);
  EXPECT_THAT(DenseSchema::Create(1, wild, 1), StatusIs(kInvalid, HasSubstr("dense parameter 'tower': ")));
}

}  // namespace
}  // namespace rowan
