#include "common/snapshot/layout.h"

#include "gtest/gtest.h"

namespace rowan {
namespace {

TEST(LayoutTest, NamesAndNumbersAreOneToOne) {
  EXPECT_EQ(SnapshotName(17), "snapshot-00000000000000000017");
  EXPECT_EQ(ShardFileName(17), "shard-00017.sst");
  EXPECT_EQ(ShardFileName(65535), "shard-65535.sst");
  for (const uint64_t id : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 63, ~uint64_t{0}}) {
    EXPECT_EQ(ParseSnapshotName(SnapshotName(id)), id);
    EXPECT_TRUE(IsTempSnapshotName(TempSnapshotName(id)));
    EXPECT_FALSE(IsTempSnapshotName(SnapshotName(id)));
    EXPECT_FALSE(ParseSnapshotName(TempSnapshotName(id)).has_value());
  }
}

TEST(LayoutTest, OtherNamesAreNotOurs) {
  for (const char* name :
       {"", "snapshot-", "snapshot-17", "snapshot-000000000000000000017", "snapshot-+0000000000000000017",
        "snapshot- 0000000000000000017", "snapshot-99999999999999999999", "snapshot-0000000000000000001x",
        "Snapshot-00000000000000000017", "snapshot-00000000000000000017.old"}) {
    EXPECT_FALSE(ParseSnapshotName(name).has_value()) << name;
    EXPECT_FALSE(IsTempSnapshotName(std::string(".tmp-") + name)) << name;
  }
}

TEST(LayoutTest, KeyBytesAreBigEndianAndSortAsNumbers) {
  char bytes[kSnapshotKeyBytes];
  StoreSnapshotKey({0x0102, 0x03040506, 0x0708090a0b0c0d0e}, bytes);
  EXPECT_EQ(std::string(bytes, sizeof(bytes)), "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e");
  std::string last;
  for (const SnapshotKey key : {SnapshotKey{0, 0, 0}, SnapshotKey{0, 1, 0}, SnapshotKey{0, 1, 255},
                                SnapshotKey{0, 1, 256}, SnapshotKey{0, 1, ~uint64_t{0}}, SnapshotKey{0, ~0u, 0},
                                SnapshotKey{255, 0, 0}, SnapshotKey{65535, ~0u, ~uint64_t{0}}}) {
    StoreSnapshotKey(key, bytes);
    const std::string now(bytes, sizeof(bytes));
    EXPECT_LT(last, now);
    last = now;
    const absl::optional<SnapshotKey> back = LoadSnapshotKey(now);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->shard, key.shard);
    EXPECT_EQ(back->table, key.table);
    EXPECT_EQ(back->key, key.key);
  }
  EXPECT_FALSE(LoadSnapshotKey(last.substr(1)).has_value());
}

}  // namespace
}  // namespace rowan
