#include "server/table/row_arena.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace rowan {
namespace {

constexpr int64_t kChunk = ChunkPool::kChunkBytes;

// A block's contents, different for every stamp.
std::string Contents(int64_t row_bytes, uint32_t stamp) {
  std::string bytes(row_bytes, '\0');
  for (int64_t i = 0; i < row_bytes; ++i) bytes[i] = static_cast<char>(stamp * 31 + i * 7 + (stamp >> 8));
  return bytes;
}

TEST(ChunkPoolTest, ChunksAreAlignedApartAndUsedAgain) {
  ChunkPool pool;
  std::set<char*> chunks;
  for (int i = 0; i < 300; ++i) {  // More than two regions of 32 MiB.
    char* const chunk = pool.Allocate();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(chunk) % kChunk, 0u);
    EXPECT_TRUE(chunks.insert(chunk).second);
    chunk[0] = chunk[kChunk - 1] = 1;
  }
  const int64_t reserved = pool.reserved_bytes();
  EXPECT_GE(reserved, 300 * kChunk);
  EXPECT_LT(reserved, 300 * kChunk + (32 << 20));
  for (char* chunk : chunks) pool.Free(chunk);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(chunks.count(pool.Allocate()), 1u);
  EXPECT_EQ(pool.reserved_bytes(), reserved);
}

TEST(RowArenaTest, BlocksKeepTheirContentsWhileTheArenaGrowsMovesAndRecycles) {
  for (const int64_t row_bytes : {int64_t{1}, int64_t{20}, int64_t{84}, int64_t{148}, int64_t{4097}, int64_t{100000},
                                  kChunk / 2, kChunk / 2 + 1, kChunk - 1, kChunk, kChunk + 1, 3 * kChunk + 5}) {
    SCOPED_TRACE(row_bytes);
    ChunkPool pool;
    RowArena arena(row_bytes, &pool);
    std::mt19937 random(3);
    std::map<uint32_t, uint32_t> model;  // slot -> stamp
    const int rows = static_cast<int>(std::max<int64_t>(20, std::min<int64_t>(10000, 4 * kChunk / row_bytes)));
    for (int op = 0; op < 2 * rows; ++op) {
      if (model.empty() || random() % 4 != 0) {
        const uint32_t slot = arena.Allocate();
        ASSERT_TRUE(model.emplace(slot, op).second) << "slot " << slot << " is in use";
        std::memcpy(arena.Block(slot), Contents(row_bytes, op).data(), row_bytes);
      } else {
        auto victim = model.lower_bound(random() % (model.rbegin()->first + 1));
        arena.Free(victim->first);
        model.erase(victim);
      }
      ASSERT_EQ(arena.rows(), static_cast<int64_t>(model.size()));
    }
    for (const auto& [slot, stamp] : model) {
      ASSERT_EQ(std::memcmp(arena.Block(slot), Contents(row_bytes, stamp).data(), row_bytes), 0) << "slot " << slot;
    }
  }
}

TEST(RowArenaTest, FreedSlotsAreUsedFirst) {
  ChunkPool pool;
  RowArena arena(/*row_bytes=*/100, &pool);
  std::set<uint32_t> slots;
  for (int i = 0; i < 5000; ++i) slots.insert(arena.Allocate());
  const int64_t bytes = arena.allocated_bytes();
  for (const uint32_t slot : slots) arena.Free(slot);
  EXPECT_EQ(arena.rows(), 0);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(slots.count(arena.Allocate()), 1u);
  EXPECT_EQ(arena.allocated_bytes(), bytes);
  EXPECT_EQ(arena.rows(), 5000);
}

TEST(RowArenaTest, FewRowsCostFewBytes) {
  ChunkPool pool;
  RowArena arena(/*row_bytes=*/148, &pool);
  EXPECT_EQ(arena.allocated_bytes(), 0);
  for (int64_t rows = 1; rows <= 600; ++rows) {
    arena.Allocate();
    ASSERT_LE(arena.allocated_bytes(), 2 * rows * 148);
    ASSERT_GE(arena.allocated_bytes(), rows * 148);
  }
  EXPECT_EQ(pool.reserved_bytes(), 0) << "a small table takes no whole chunk";
}

TEST(RowArenaTest, GivesItsChunksBack) {
  ChunkPool pool;
  int64_t reserved = 0;
  for (int round = 0; round < 5; ++round) {
    RowArena arena(/*row_bytes=*/1000, &pool);
    for (int i = 0; i < 20000; ++i) arena.Allocate();
    if (round == 0) reserved = pool.reserved_bytes();
    EXPECT_EQ(pool.reserved_bytes(), reserved);
  }
}

}  // namespace
}  // namespace rowan
