// What tests of the snapshot format share: a directory of their own, a small model of a snapshot, and its writing.
#ifndef ROWAN_TESTS_COMMON_SNAPSHOT_SNAPSHOT_FIXTURE_H_
#define ROWAN_TESTS_COMMON_SNAPSHOT_SNAPSHOT_FIXTURE_H_

#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/row_format.h"
#include "common/snapshot/layout.h"
#include "common/status_macros.h"
#include "gtest/gtest.h"
#include "proto/snapshot.pb.h"
#include "rocksdb/env.h"
#include "server/storage/snapshot_writer.h"

namespace rowan::testing {

// shard -> (table, key) -> block
using Rows = std::map<uint32_t, std::map<std::pair<uint32_t, uint64_t>, std::string>>;

// A block of `floats` floats that depend on key and salt.
inline std::string Block(uint64_t key, int floats, uint32_t salt = 0) {
  std::string block(kRowHeaderBytes + 4 * floats, '\0');
  StoreRowHeader({key, /*update_count=*/salt + 1, /*last_step=*/99, /*flags=*/0}, &block[0]);
  for (int64_t i = kRowHeaderBytes; i < static_cast<int64_t>(block.size()); ++i) {
    block[i] = static_cast<char>(key * 131 + salt * 17 + i);
  }
  return block;
}

// Four shards; tables 1 and 2 and the dense parameter 3; shard 2 is empty.
inline Rows SmallRows(uint32_t salt = 0) {
  Rows rows;
  for (const uint64_t key : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 63, ~uint64_t{0}}) {
    for (const uint32_t shard : {0, 1, 3}) {
      rows[shard][{1, key}] = Block(key, 3, salt + shard);
      if (shard != 1) rows[shard][{2, key}] = Block(key, 1, salt + shard);
    }
  }
  rows[3][{3, 0}] = Block(0, 10, salt);
  rows[0][{3, 1}] = Block(1, 2, salt);
  return rows;
}

inline proto::SnapshotManifest SmallManifest() {
  proto::SnapshotManifest manifest;
  manifest.set_generation(5);
  manifest.mutable_job()->set_num_shards(4);
  manifest.mutable_job()->set_num_ranks(1);
  manifest.mutable_position()->set_step(100);
  for (uint32_t id : {1, 2}) {
    proto::SnapshotTable* table = manifest.add_tables();
    table->set_id(id);
    table->mutable_table()->set_name(absl::StrCat("table ", id));
  }
  proto::SnapshotTable* dense = manifest.add_tables();
  dense->set_id(3);
  dense->mutable_dense()->set_name("tower");
  dense->mutable_dense()->set_size(4098);
  proto::ApplicationEntry* const model = manifest.add_application();
  model->set_key("model");
  model->set_value(std::string("a\0\n# crc32c 00000000\n\xff", 22));
  return manifest;
}

inline absl::StatusOr<std::string> WriteSnapshot(rocksdb::Env* env, const std::string& root, uint64_t id,
                                                 const Rows& rows) {
  ROWAN_ASSIGN_OR_RETURN(const std::unique_ptr<SnapshotWriter> writer, SnapshotWriter::Create(env, root, id));
  for (const auto& [shard, entries] : rows) {
    ROWAN_ASSIGN_OR_RETURN(ShardFile* const file, writer->NewShard(shard));
    for (const auto& [key, block] : entries) ROWAN_RETURN_IF_ERROR(file->Put(key.first, key.second, block));
    ROWAN_RETURN_IF_ERROR(file->Finish());
  }
  return writer->Publish(SmallManifest());
}

class SnapshotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const ::testing::TestInfo* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = absl::StrCat(::testing::TempDir(), "/", info->name(), ".", ::getpid());
  }

  rocksdb::Env* const env_ = rocksdb::Env::Default();
  std::string root_;  // Not there yet.
};

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_COMMON_SNAPSHOT_SNAPSHOT_FIXTURE_H_
