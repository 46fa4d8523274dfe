#include "common/rocksdb_status.h"

#include <memory>

#include "rocksdb/env.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;

TEST(RocksDbStatusTest, CodeSaysWhatToDoAndMessageWhichThing) {
  using rocksdb::Status;
  EXPECT_OK(FromRocksDb(Status::OK(), "x"));
  EXPECT_THAT(FromRocksDb(Status::Corruption("bad block"), "shard-00003.sst"),
              StatusIs(absl::StatusCode::kDataLoss, "shard-00003.sst: Corruption: bad block"));
  EXPECT_THAT(FromRocksDb(Status::IOError("broken"), "f"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "f: IO error: broken"));
  EXPECT_THAT(FromRocksDb(Status::NoSpace("full"), "f"),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("full")));
  EXPECT_THAT(FromRocksDb(Status::MemoryLimit("m"), "f"),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("m")));
  EXPECT_THAT(FromRocksDb(Status::TryAgain("t"), "f"), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("t")));
  EXPECT_THAT(FromRocksDb(Status::Aborted("a"), "f"), StatusIs(absl::StatusCode::kAborted, HasSubstr("a")));
}

TEST(RocksDbStatusTest, MissingFileIsNotFound) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  const std::string path = ::testing::TempDir() + "/no such file";
  EXPECT_THAT(FromRocksDb(rocksdb::Env::Default()->NewSequentialFile(path, &file, rocksdb::EnvOptions()), path),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no such file: ")));
}

}  // namespace
}  // namespace rowan
