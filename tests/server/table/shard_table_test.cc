#include "server/table/shard_table.h"

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/table/keys.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

std::shared_ptr<const TableSchema> AdamSchema() {
  proto::TableSpec spec;
  spec.set_name("t");
  proto::Slice* slice = spec.add_slices();
  slice->set_width(5);
  slice->mutable_initializer()->set_kind(proto::Initializer::UNIFORM);
  slice->mutable_initializer()->set_scale(1);
  slice->mutable_optimizer()->set_kind(proto::Optimizer::ADAM);
  return std::make_shared<const TableSchema>(*TableSchema::Create(1, spec, /*seed=*/77));
}

std::string Bytes(const ShardTable& table, const char* block) {
  return block == nullptr ? "none" : std::string(block, table.schema().row_bytes());
}

// Keys of shard 3 of 16 whose places in the index collide: same bucket, same fingerprint.
std::vector<uint64_t> Crowd(size_t n) {
  std::vector<uint64_t> keys;
  for (size_t i = 0; i < n; ++i) keys.push_back(testing::KeyOfHash(uint64_t{3} << 60 | uint64_t{5} << 20 | i));
  return keys;
}

TEST(ShardTableTest, RecycledRowsCarryNothingOver) {
  ChunkPool pool;
  ShardTable table(AdamSchema(), Placement(1), &pool);
  ShardTable fresh(AdamSchema(), Placement(1), &pool);
  const std::vector<float> gradient(5, 0.25f);
  for (uint64_t key = 0; key < 100; ++key) {
    char* block = table.Create(KeyHash(key), key);
    for (uint64_t step = 0; step < 3; ++step) table.schema().UpdateBlock(gradient.data(), 1000 + step, block);
  }
  for (uint64_t key = 0; key < 100; ++key) ASSERT_TRUE(table.Erase(KeyHash(key), key));
  EXPECT_EQ(table.rows(), 0);
  for (uint64_t key = 50; key < 150; ++key) {  // Old keys and new ones, all in recycled slots.
    ASSERT_EQ(table.Find(KeyHash(key), key), nullptr);
    EXPECT_EQ(Bytes(table, table.Create(KeyHash(key), key)), Bytes(fresh, fresh.Create(KeyHash(key), key)));
  }
}

TEST(ShardTableTest, BehavesLikeAMapOfBlocks) {
  for (const bool hostile : {false, true}) {
    SCOPED_TRACE(hostile);
    const Placement placement(16);
    ChunkPool pool;
    ShardTable table(AdamSchema(), placement, &pool);
    std::vector<uint64_t> keys = hostile ? Crowd(400) : testing::OddKeys();
    if (!hostile) {
      for (uint64_t i = 0; i < 5000; ++i) keys.push_back(i * i);
    }
    std::map<uint64_t, std::string> model;
    std::mt19937_64 random(1);
    const std::vector<float> gradient(5, 1.5f);
    for (int op = 0; op < 30000; ++op) {
      const uint64_t key = keys[random() % keys.size()];
      const uint64_t hash = KeyHash(key);
      table.Prefetch(hash);
      char* block = table.Find(hash, key);
      const auto expected = model.find(key);
      ASSERT_EQ(Bytes(table, block), expected == model.end() ? "none" : expected->second) << "key " << key;
      if (block != nullptr) {
        ASSERT_EQ(LoadRowKey(block), key);
        ASSERT_NE(table.Guess(hash), nullptr);
      }
      switch (random() % 3) {
        case 0:
          if (block == nullptr) block = table.Create(hash, key);
          table.schema().UpdateBlock(gradient.data(), op, block);
          model[key] = Bytes(table, block);
          break;
        case 1:
          ASSERT_EQ(table.Erase(hash, key), model.erase(key) == 1);
          break;
        default:
          if (block != nullptr) break;
          std::string stored(table.schema().row_bytes(), '\0');
          for (char& byte : stored) byte = static_cast<char>(random());
          std::memcpy(stored.data(), &key, 8);
          table.Load(stored.data());
          model[key] = stored;
      }
      ASSERT_EQ(table.rows(), static_cast<int64_t>(model.size()));
    }
    std::map<uint64_t, std::string> visited;
    table.ForEach([&](const char* block) {
      EXPECT_TRUE(visited.emplace(LoadRowKey(block), Bytes(table, block)).second) << "visited twice";
    });
    EXPECT_EQ(visited, model);
  }
}

}  // namespace
}  // namespace rowan
