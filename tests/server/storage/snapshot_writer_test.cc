#include "server/storage/snapshot_writer.h"

#include <functional>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "common/snapshot/reader.h"
#include "tests/common/snapshot/snapshot_fixture.h"
#include "tests/fault_env.h"
#include "tests/status_matchers.h"
#include "tests/sync_env.h"

namespace rowan {
namespace {

using ::rowan::testing::Block;
using ::rowan::testing::FaultEnv;
using ::rowan::testing::SmallManifest;
using ::rowan::testing::SmallRows;
using ::rowan::testing::StatusIs;
using ::rowan::testing::SyncEnv;
using ::rowan::testing::WriteSnapshot;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

constexpr char kLock[] = ".snapshot-lock";

class SnapshotWriterTest : public testing::SnapshotTest {
 protected:
  std::vector<std::string> Names(const std::string& directory) {
    std::vector<std::string> names;
    EXPECT_TRUE(env_->GetChildren(directory, &names).ok());
    return names;
  }
  uint64_t Newest() {
    const auto reader = SnapshotReader::Open(env_, root_);
    EXPECT_OK(reader);
    return reader.ok() ? (*reader)->manifest().id() : 0;
  }
};

TEST_F(SnapshotWriterTest, RootIsMadeWithItsParents) {
  ASSERT_OK(WriteSnapshot(env_, root_ + "/a/b/", 17, SmallRows()));
  EXPECT_THAT(Names(root_ + "/a/b"), UnorderedElementsAre(SnapshotName(17), kLock));
}

TEST_F(SnapshotWriterTest, EmptyShardHasNoFile) {
  const auto writer = SnapshotWriter::Create(env_, root_, 1);
  ASSERT_OK(writer);
  for (uint32_t shard = 0; shard < 4; ++shard) {
    const auto file = (*writer)->NewShard(shard);
    ASSERT_OK(file);
    if (shard == 2) {
      ASSERT_OK((*file)->Put(2, 0, Block(0, 1)));
    }
    ASSERT_OK((*file)->Finish());
  }
  const absl::StatusOr<std::string> path = (*writer)->Publish(SmallManifest());
  ASSERT_OK(path);
  EXPECT_THAT(Names(*path), UnorderedElementsAre("MANIFEST", "shard-00002.sst"));
}

TEST_F(SnapshotWriterTest, SnapshotWithoutRowsIsOne) {
  ASSERT_OK(WriteSnapshot(env_, root_, 3, {}));
  EXPECT_EQ(Newest(), 3u);
}

TEST_F(SnapshotWriterTest, EntryOutOfOrderIsNamed) {
  const auto writer = SnapshotWriter::Create(env_, root_, 1);
  ASSERT_OK(writer);
  const uint64_t top = ~uint64_t{0};
  const auto offend = [&](uint32_t shard, uint32_t table, uint64_t key, const std::string& block) {
    ShardFile* const file = *(*writer)->NewShard(shard);
    EXPECT_OK(file->Put(1, 5, Block(5, 1)));
    EXPECT_OK(file->Put(2, top, Block(top, 1)));
    const absl::Status status = file->Put(table, key, block);
    EXPECT_EQ(file->Put(9, 9, Block(9, 1)), status);  // It stays broken.
    EXPECT_EQ(file->Finish(), status);
    return status;
  };
  const auto invalid = [](const char* text) { return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)); };
  EXPECT_THAT(offend(0, 2, top, Block(top, 1)),
              invalid("shard 0, table 2, key 18446744073709551615: not after table 2, key 18446744073709551615"));
  EXPECT_THAT(offend(1, 2, 6, Block(6, 1)), invalid("shard 1, table 2, key 6: not after table 2"));
  EXPECT_THAT(offend(2, 1, 6, Block(6, 1)), invalid("shard 2, table 1, key 6: not after table 2"));
  EXPECT_THAT(offend(3, 3, 6, Block(7, 1)), invalid("table 3, key 6: its block is of key 7"));
  EXPECT_THAT(offend(4, 3, 6, "short"), invalid("table 3, key 6: a block of 5 bytes"));
  EXPECT_THAT(offend(5, 0, 0, Block(0, 1)), invalid("table 0, key 0: tables begin at 1"));
  EXPECT_THAT((*writer)->NewShard(5), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("shard 5")));
  EXPECT_THAT((*writer)->NewShard(65536), invalid("shard 65536"));
  EXPECT_THAT((*writer)->Publish(SmallManifest()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("shard 0")));
  EXPECT_THAT(Names(root_), ElementsAre(kLock));
}

TEST_F(SnapshotWriterTest, StateComesFirst) {
  const auto writer = SnapshotWriter::Create(env_, root_, 1);
  ASSERT_OK(writer);
  ShardFile* const file = *(*writer)->NewShard(0);
  ASSERT_OK(file->PutState(proto::ShardState()));
  EXPECT_THAT(file->PutState(proto::ShardState()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("state after an entry")));
}

TEST_F(SnapshotWriterTest, PublishChecksFilesAgainstManifest) {
  const auto publish = [&](const std::function<void(proto::SnapshotManifest*)>& spoil) {
    proto::SnapshotManifest manifest = SmallManifest();
    spoil(&manifest);
    const auto writer = SnapshotWriter::Create(env_, root_, 1);
    EXPECT_OK(writer);
    for (uint32_t shard : {1, 3}) {
      ShardFile* const file = *(*writer)->NewShard(shard);
      EXPECT_OK(file->Put(2, 8, Block(8, 1)));
      EXPECT_OK(file->Finish());
    }
    const absl::Status status = (*writer)->Publish(manifest).status();
    EXPECT_THAT((*writer)->Publish(SmallManifest()),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("closed")));
    EXPECT_THAT((*writer)->NewShard(0), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("closed")));
    return status;
  };
  const auto invalid = [](const char* text) { return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)); };
  EXPECT_THAT(publish([](auto* m) { m->mutable_tables()->DeleteSubrange(1, 1); }), invalid("rows of table 2"));
  EXPECT_THAT(publish([](auto* m) { m->mutable_job()->set_num_shards(2); }), invalid("shard 3 after 1, of 2 shards"));
  EXPECT_THAT(Names(root_), ElementsAre(kLock));
  EXPECT_OK(publish([](auto*) {}));
}

TEST_F(SnapshotWriterTest, ShardsAreWrittenByThreadsAtOnce) {
  const testing::Rows rows = SmallRows();
  const auto writer = SnapshotWriter::Create(env_, root_, 1);
  ASSERT_OK(writer);
  std::vector<std::thread> threads;
  for (uint32_t shard = 0; shard < 4; ++shard) {
    threads.emplace_back([&, shard] {
      ShardFile* const file = *(*writer)->NewShard(shard);
      const auto entries = rows.find(shard);
      if (entries != rows.end()) {
        for (const auto& [key, block] : entries->second) EXPECT_OK(file->Put(key.first, key.second, block));
      }
      EXPECT_OK(file->Finish());
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK((*writer)->Publish(SmallManifest()));
  EXPECT_EQ(Newest(), 1u);
}

TEST_F(SnapshotWriterTest, AbandonedWriterLeavesNothing) {
  ASSERT_OK(WriteSnapshot(env_, root_, 1, SmallRows()));
  {
    const auto writer = SnapshotWriter::Create(env_, root_, 2);
    ASSERT_OK(writer);
    ShardFile* const file = *(*writer)->NewShard(0);
    ASSERT_OK(file->Put(1, 0, Block(0, 1)));
    EXPECT_THAT(Names(root_), UnorderedElementsAre(SnapshotName(1), TempSnapshotName(2), kLock));
    EXPECT_EQ(Newest(), 1u);
  }
  EXPECT_THAT(Names(root_), UnorderedElementsAre(SnapshotName(1), kLock));
}

TEST_F(SnapshotWriterTest, CreateRemovesOnlyWhatDeadAttemptsLeft) {
  const std::vector<std::string> foreign = {"mine", ".tmp-mine", ".tmp-snapshot-7", "snapshot-7", SnapshotName(7)};
  for (const std::string& name : foreign) {
    ASSERT_OK(WriteSnapshot(env_, root_ + "/" + name + "/deep", 1, {}));
  }
  const std::string left = root_ + "/" + TempSnapshotName(6);
  ASSERT_TRUE(env_->CreateDir(left).ok());
  ASSERT_TRUE(rocksdb::WriteStringToFile(env_, "x", left + "/shard-00001.sst").ok());
  ASSERT_OK(SnapshotWriter::Create(env_, root_, 8));
  const std::vector<std::string> names = Names(root_);
  EXPECT_THAT(names, IsSupersetOf(foreign));
  EXPECT_EQ(names.size(), foreign.size() + 1);
}

TEST_F(SnapshotWriterTest, RootHasOneWriterAtATime) {
  auto writer = SnapshotWriter::Create(env_, root_, 1);
  ASSERT_OK(writer);
  EXPECT_THAT(SnapshotWriter::Create(env_, root_, 2),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another snapshot is being written")));
  ASSERT_OK((*writer)->Publish(SmallManifest()));
  writer->reset();
  EXPECT_THAT(SnapshotWriter::Create(env_, root_, 1),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(SnapshotName(1))));
  EXPECT_OK(SnapshotWriter::Create(env_, root_, 2));
}

TEST_F(SnapshotWriterTest, EveryPublishedByteIsSyncedBeforeItsRename) {
  ASSERT_TRUE(env_->CreateDir(root_).ok());
  SyncEnv sync(env_);
  ASSERT_OK(WriteSnapshot(&sync, root_ + "/new", 1, SmallRows()));
  EXPECT_THAT(sync.violations(), ElementsAre());
  EXPECT_THAT(sync.unsynced(), ElementsAre());
}

TEST_F(SnapshotWriterTest, OneFailedOperationLeavesThePreviousSnapshotNewest) {
  ASSERT_OK(WriteSnapshot(env_, root_, 1, SmallRows()));
  FaultEnv fault(env_);
  int64_t n = 1;
  for (;; ++n) {
    fault.FailAt(n, FaultEnv::Mode::kOnce);
    const absl::Status status = WriteSnapshot(&fault, root_, 2, SmallRows(/*salt=*/1)).status();
    if (fault.operations() < n) {
      EXPECT_OK(status);
      break;
    }
    ASSERT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("fault"))) << n;
    ASSERT_THAT(Names(root_), UnorderedElementsAre(SnapshotName(1), kLock)) << n;
    ASSERT_EQ(Newest(), 1u) << n;
  }
  EXPECT_GT(n, 30);  // Three files, the manifest, their directories.
  EXPECT_EQ(Newest(), 2u);
}

TEST_F(SnapshotWriterTest, DeadDiskNeverShowsHalfASnapshot) {
  FaultEnv fault(env_);
  ASSERT_OK(WriteSnapshot(env_, root_, 1, SmallRows()));
  int published = 0;
  for (int64_t n = 1;; ++n) {
    fault.FailAt(n, FaultEnv::Mode::kForGood);
    const uint64_t id = 2 + published;
    const absl::Status status = WriteSnapshot(&fault, root_, id, SmallRows(/*salt=*/1)).status();
    const uint64_t newest = Newest();  // Verifies it.
    if (fault.operations() < n) {
      EXPECT_OK(status);
      EXPECT_EQ(newest, id);
      break;
    }
    ASSERT_FALSE(status.ok()) << n;
    // Visible in spite of an error: only if the root could neither be synced nor the rename be undone, and said so.
    if (newest == id) {
      ++published;
      EXPECT_THAT(std::string(status.message()), HasSubstr("is whole, but a power cut may undo it")) << n;
    } else {
      ASSERT_EQ(newest, id - 1) << n;
    }
  }
  EXPECT_EQ(published, 2);  // Opening the root to sync it, and syncing it.
  for (const std::string& name : Names(root_)) EXPECT_FALSE(absl::StartsWith(name, ".tmp-")) << name;
}

}  // namespace
}  // namespace rowan
