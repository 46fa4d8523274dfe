#include "common/snapshot/reader.h"

#include <atomic>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "rocksdb/db.h"
#include "tests/common/snapshot/snapshot_fixture.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::Block;
using ::rowan::testing::Rows;
using ::rowan::testing::SmallRows;
using ::rowan::testing::StatusIs;
using ::rowan::testing::WriteSnapshot;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Knows whether RocksDB opened a file: it reads tables by random access, the verification does not.
class WatchEnv final : public rocksdb::EnvWrapper {
 public:
  explicit WatchEnv(rocksdb::Env* base) : EnvWrapper(base) {}
  rocksdb::Status NewRandomAccessFile(const std::string& path, std::unique_ptr<rocksdb::RandomAccessFile>* file,
                                      const rocksdb::EnvOptions& options) override {
    ++opened;
    return target()->NewRandomAccessFile(path, file, options);
  }
  std::atomic<int> opened{0};
};

class SnapshotReaderTest : public testing::SnapshotTest {
 protected:
  std::string Read(const std::string& path) {
    std::string bytes;
    EXPECT_TRUE(rocksdb::ReadFileToString(env_, path, &bytes).ok()) << path;
    return bytes;
  }
  void Write(const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(rocksdb::WriteStringToFile(env_, bytes, path).ok()) << path;
  }
  void Poke(const std::string& path, size_t offset, char byte) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset)).put(byte).flush();
    ASSERT_TRUE(file.good()) << path;
  }
  // path -> bytes and time of change
  std::map<std::string, std::pair<std::string, uint64_t>> Contents(const std::string& directory) {
    std::vector<std::string> names;
    EXPECT_TRUE(env_->GetChildren(directory, &names).ok());
    std::map<std::string, std::pair<std::string, uint64_t>> contents;
    for (const std::string& name : names) {
      const std::string path = directory + "/" + name;
      uint64_t time = 0;
      EXPECT_TRUE(env_->GetFileModificationTime(path, &time).ok());
      bool is_directory = false;
      EXPECT_TRUE(env_->IsDirectory(path, &is_directory).ok());
      if (is_directory) {
        contents.merge(Contents(path));
      } else {
        contents[path] = {Read(path), time};
      }
    }
    return contents;
  }
  static Rows ReadAll(const SnapshotReader& reader) {
    Rows rows;
    for (uint32_t shard = 0; shard < reader.manifest().job().num_shards(); ++shard) {
      std::pair<uint32_t, uint64_t> last{0, 0};
      EXPECT_OK(reader.ReadShard(shard, [&](uint32_t table, uint64_t key, absl::string_view block) {
        EXPECT_LT(last, std::make_pair(table, key));
        last = {table, key};
        rows[shard][last] = std::string(block);
        return absl::OkStatus();
      }));
    }
    return rows;
  }
  // Opening `path` fails as `matcher` says, and RocksDB is not called.
  template <typename Matcher>
  void ExpectRefused(const std::string& path, Matcher matcher) {
    WatchEnv watch(env_);
    SnapshotReaderOptions options;
    options.verify_threads = 1;
    ASSERT_THAT(SnapshotReader::Open(&watch, path, options), matcher);
    ASSERT_EQ(watch.opened, 0);
  }
};

TEST_F(SnapshotReaderTest, ReadsBackEveryKeyOfEveryTableAndShard) {
  const absl::StatusOr<std::string> path = WriteSnapshot(env_, root_, 17, SmallRows());
  ASSERT_OK(path);
  EXPECT_EQ(*path, root_ + "/snapshot-00000000000000000017");
  for (const std::string& opened : {*path, *path + "/", root_, root_ + "//"}) {
    const auto reader = SnapshotReader::Open(env_, opened);
    ASSERT_OK(reader);
    EXPECT_EQ((*reader)->directory(), *path);
    EXPECT_EQ(ReadAll(**reader), SmallRows());
    EXPECT_EQ((*reader)->manifest().id(), 17u);
    EXPECT_EQ((*reader)->manifest().files_size(), 3);
    EXPECT_EQ((*reader)->manifest().tables(0).rows(), 12u);
    EXPECT_EQ((*reader)->manifest().tables(1).rows(), 8u);
    EXPECT_EQ((*reader)->manifest().tables(2).rows(), 2u);
    EXPECT_EQ((*reader)->manifest().application(0).value(), testing::SmallManifest().application(0).value());
  }
}

TEST_F(SnapshotReaderTest, ShardsAreReadByThreadsAtOnce) {
  ASSERT_OK(WriteSnapshot(env_, root_, 17, SmallRows()));
  const auto reader = SnapshotReader::Open(env_, root_);
  ASSERT_OK(reader);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { EXPECT_EQ(ReadAll(**reader), SmallRows()); });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SnapshotReaderTest, CallbackErrorEndsTheReading) {
  ASSERT_OK(WriteSnapshot(env_, root_, 17, SmallRows()));
  const auto reader = SnapshotReader::Open(env_, root_);
  ASSERT_OK(reader);
  int calls = 0;
  const auto stop = [&](uint32_t, uint64_t, absl::string_view) {
    return ++calls == 2 ? absl::CancelledError("enough") : absl::OkStatus();
  };
  EXPECT_THAT((*reader)->ReadShard(0, stop), StatusIs(absl::StatusCode::kCancelled, "enough"));
  EXPECT_EQ(calls, 2);
  EXPECT_OK((*reader)->ReadShard(2, stop));
  EXPECT_EQ(calls, 2);
  EXPECT_THAT((*reader)->ReadShard(4, stop),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("shard 4, but it has 4")));
}

TEST_F(SnapshotReaderTest, StateIsKeptBesideTheRows) {
  const auto writer = SnapshotWriter::Create(env_, root_, 1);
  ASSERT_OK(writer);
  proto::ShardState state;
  state.add_windows()->set_highest(~uint64_t{0});
  for (const uint32_t shard : {0, 1}) {
    const auto file = (*writer)->NewShard(shard);
    ASSERT_OK(file);
    ASSERT_OK((*file)->PutState(shard == 0 ? state : proto::ShardState()));
    if (shard == 0) {
      ASSERT_OK((*file)->Put(1, 0, Block(0, 1)));
    }
    ASSERT_OK((*file)->Finish());
  }
  ASSERT_OK((*writer)->Publish(testing::SmallManifest()));
  const auto reader = SnapshotReader::Open(env_, root_);
  ASSERT_OK(reader);
  EXPECT_EQ(ReadAll(**reader), (Rows{{0, {{{1, 0}, Block(0, 1)}}}}));
  for (uint32_t shard = 0; shard < 4; ++shard) {
    const absl::StatusOr<proto::ShardState> back = (*reader)->ReadShardState(shard);
    ASSERT_OK(back);
    EXPECT_EQ(back->SerializeAsString(), shard == 0 ? state.SerializeAsString() : "") << shard;
  }
}

TEST_F(SnapshotReaderTest, EveryFlippedBitIsRefusedBeforeRocksDbSeesIt) {
  Rows rows;
  rows[0][{1, 7}] = Block(7, 1);
  rows[3][{2, ~uint64_t{0}}] = Block(~uint64_t{0}, 1);
  const absl::StatusOr<std::string> path = WriteSnapshot(env_, root_, 17, rows);
  ASSERT_OK(path);
#ifdef ROWAN_SANITIZED
  constexpr size_t kStep = 7;  // Still every byte and every place of a bit.
#else
  constexpr size_t kStep = 1;
#endif
  for (const char* name : {"shard-00000.sst", "shard-00003.sst", "MANIFEST"}) {
    const std::string file = *path + "/" + name;
    const std::string bytes = Read(file);
    for (size_t bit = 0; bit < 8 * bytes.size(); bit += kStep) {
      const size_t byte = bit / 8;
      Poke(file, byte, static_cast<char>(bytes[byte] ^ (1 << bit % 8)));
      ExpectRefused(*path, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(file)));
      if (HasFatalFailure()) FAIL() << name << ", bit " << bit;
      Poke(file, byte, bytes[byte]);
    }
  }
  EXPECT_OK(SnapshotReader::Open(env_, *path));
}

TEST_F(SnapshotReaderTest, DamageIsPlacedInItsPiece) {
  Rows rows;
  for (uint64_t key = 0; key < 300; ++key) rows[1][{1, key}] = Block(key, 2048);
  const absl::StatusOr<std::string> path = WriteSnapshot(env_, root_, 17, rows);
  ASSERT_OK(path);
  const std::string file = *path + "/shard-00001.sst";
  std::string bytes = Read(file);
  ASSERT_GT(bytes.size(), 2u << 20);
  bytes[(1 << 20) + 5] ^= 1;
  Write(file, bytes);
  ExpectRefused(*path, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(file + ", bytes 1048576 to 2097152: crc32c ")));
}

TEST_F(SnapshotReaderTest, WrongLengthsAndMissingFilesAreNamed) {
  const absl::StatusOr<std::string> path = WriteSnapshot(env_, root_, 17, SmallRows());
  ASSERT_OK(path);
  const std::string file = *path + "/shard-00001.sst";
  const std::string bytes = Read(file);
  for (const std::string& wrong : {bytes.substr(0, bytes.size() - 1), std::string(), bytes + '\0'}) {
    Write(file, wrong);
    ExpectRefused(root_,
                  StatusIs(absl::StatusCode::kDataLoss,
                           HasSubstr(absl::StrCat(file, ": ", wrong.size(), " bytes, expected ", bytes.size()))));
  }
  ASSERT_TRUE(env_->DeleteFile(file).ok());
  ExpectRefused(root_, StatusIs(absl::StatusCode::kDataLoss,
                                HasSubstr(absl::StrCat(file, ": missing, expected ", bytes.size()))));
}

TEST_F(SnapshotReaderTest, FileOfAnotherSnapshotIsRefused) {
  const absl::StatusOr<std::string> one = WriteSnapshot(env_, root_, 1, SmallRows());
  const absl::StatusOr<std::string> two = WriteSnapshot(env_, root_, 2, SmallRows(/*salt=*/1));
  ASSERT_OK(one);
  ASSERT_OK(two);
  ASSERT_EQ(Read(*one + "/shard-00000.sst").size(), Read(*two + "/shard-00000.sst").size());
  Write(*two + "/shard-00000.sst", Read(*one + "/shard-00000.sst"));
  ExpectRefused(root_,
                StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr(*two + "/shard-00000.sst, bytes 0 to "),
                                                            EndsWith("; the previous good snapshot is " + *one))));
  Write(*two + "/MANIFEST", Read(*one + "/MANIFEST"));
  ExpectRefused(root_, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("id 1, expected 2: of another snapshot")));
}

TEST_F(SnapshotReaderTest, ForeignFilesAreIgnored) {
  const absl::StatusOr<std::string> path = WriteSnapshot(env_, root_, 17, SmallRows());
  ASSERT_OK(path);
  Write(*path + "/notes.txt", "mine");
  Write(*path + "/shard-00002.sst", "not an SST: the manifest has no file of shard 2");
  Write(root_ + "/notes.txt", "mine");
  ASSERT_TRUE(env_->CreateDir(root_ + "/snapshot-18").ok());
  ASSERT_TRUE(env_->CreateDir(root_ + "/.tmp-snapshot-00000000000000000019").ok());
  const auto reader = SnapshotReader::Open(env_, root_);
  ASSERT_OK(reader);
  EXPECT_EQ(ReadAll(**reader), SmallRows());
  EXPECT_THAT((*reader)->skipped(), ElementsAre());
}

TEST_F(SnapshotReaderTest, NewestCompleteIsTaken) {
  for (const uint64_t id : {9, 10, 2}) ASSERT_OK(WriteSnapshot(env_, root_, id, SmallRows(id)));
  auto reader = SnapshotReader::Open(env_, root_);
  ASSERT_OK(reader);
  EXPECT_EQ((*reader)->manifest().id(), 10u);
  EXPECT_EQ(ReadAll(**reader), SmallRows(10));

  const std::string newest = root_ + "/" + SnapshotName(10);
  ASSERT_TRUE(env_->DeleteFile(newest + "/MANIFEST").ok());
  reader = SnapshotReader::Open(env_, root_);
  ASSERT_OK(reader);
  EXPECT_EQ((*reader)->manifest().id(), 9u);
  EXPECT_THAT((*reader)->skipped(), ElementsAre(newest));
  // Asked for by name, it is refused.
  ExpectRefused(newest, StatusIs(absl::StatusCode::kDataLoss,
                                 AllOf(HasSubstr(newest + "/MANIFEST: missing"), HasSubstr(SnapshotName(9)))));
}

TEST_F(SnapshotReaderTest, OffersTheNewestOfTheUndamaged) {
  for (uint64_t id = 1; id <= 4; ++id) ASSERT_OK(WriteSnapshot(env_, root_, id, SmallRows()));
  for (const uint64_t id : {3, 4}) Write(absl::StrCat(root_, "/", SnapshotName(id), "/shard-00003.sst"), "");
  ExpectRefused(root_, StatusIs(absl::StatusCode::kDataLoss,
                                AllOf(HasSubstr(SnapshotName(4) + "/shard-00003.sst: 0 bytes"),
                                      EndsWith("good snapshot is " + root_ + "/" + SnapshotName(2)))));
  for (const uint64_t id : {1, 2}) Write(absl::StrCat(root_, "/", SnapshotName(id), "/shard-00003.sst"), "");
  ExpectRefused(root_,
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no earlier snapshot in " + root_ + " is good")));
}

TEST_F(SnapshotReaderTest, NoSnapshotIsNotFound) {
  EXPECT_THAT(SnapshotReader::Open(env_, root_), StatusIs(absl::StatusCode::kNotFound, HasSubstr(root_)));
  ASSERT_TRUE(env_->CreateDir(root_).ok());
  EXPECT_THAT(SnapshotReader::Open(env_, root_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no complete snapshot")));
}

TEST_F(SnapshotReaderTest, SnapshotMayBeRenamed) {
  const absl::StatusOr<std::string> path = WriteSnapshot(env_, root_, 17, SmallRows());
  ASSERT_OK(path);
  const std::string copy = root_ + "/best model";
  ASSERT_TRUE(env_->RenameFile(*path, copy).ok());
  const auto reader = SnapshotReader::Open(env_, copy);
  ASSERT_OK(reader);
  EXPECT_EQ(ReadAll(**reader), SmallRows());
}

TEST_F(SnapshotReaderTest, ReadingChangesNoByte) {
  ASSERT_OK(WriteSnapshot(env_, root_, 17, SmallRows()));
  const auto before = Contents(root_);
  const auto reader = SnapshotReader::Open(env_, root_);
  ASSERT_OK(reader);
  EXPECT_EQ(ReadAll(**reader), SmallRows());
  EXPECT_OK((*reader)->ReadShardState(0));
  EXPECT_EQ(Contents(root_), before);
}

TEST_F(SnapshotReaderTest, DamageAfterOpenIsDataLoss) {
  const absl::StatusOr<std::string> path = WriteSnapshot(env_, root_, 17, SmallRows());
  ASSERT_OK(path);
  const auto reader = SnapshotReader::Open(env_, root_);
  ASSERT_OK(reader);
  std::string bytes = Read(*path + "/shard-00000.sst");
  bytes[20] ^= 1;
  Write(*path + "/shard-00000.sst", bytes);
  const auto ignore = [](uint32_t, uint64_t, absl::string_view) { return absl::OkStatus(); };
  EXPECT_THAT((*reader)->ReadShard(0, ignore), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("shard-00000.sst")));
  // Another shard's file in its place, undamaged.
  Write(*path + "/shard-00000.sst", Read(*path + "/shard-00001.sst"));
  EXPECT_THAT((*reader)->ReadShard(0, ignore),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not an entry of shard 0")));
}

TEST_F(SnapshotReaderTest, AllFilesAreIngestedInOneCall) {
  const absl::StatusOr<std::string> path = WriteSnapshot(env_, root_, 17, SmallRows());
  ASSERT_OK(path);
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* raw = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, root_ + "/db", &raw).ok());
  const std::unique_ptr<rocksdb::DB> db(raw);
  rocksdb::IngestExternalFileOptions ingest;
  ingest.write_global_seqno = false;
  const rocksdb::Status status = db->IngestExternalFile(
      {*path + "/shard-00000.sst", *path + "/shard-00001.sst", *path + "/shard-00003.sst"}, ingest);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const Rows expected = SmallRows();
  for (const auto& [shard, rows] : expected) {
    for (const auto& [key, block] : rows) {
      char bytes[kSnapshotKeyBytes];
      StoreSnapshotKey({shard, key.first, key.second}, bytes);
      std::string value;
      ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), {bytes, sizeof(bytes)}, &value).ok());
      EXPECT_EQ(value, block);
    }
  }
}

}  // namespace
}  // namespace rowan
