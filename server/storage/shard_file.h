// ShardFile: one shard's entries on their way into a snapshot. Made by SnapshotWriter::NewShard.
//
// Not thread-safe: one thread at a time fills a file; different files may be filled at once.
#ifndef ROWAN_SERVER_STORAGE_SHARD_FILE_H_
#define ROWAN_SERVER_STORAGE_SHARD_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/snapshot.pb.h"
#include "rocksdb/env.h"
#include "rocksdb/sst_file_writer.h"

namespace rowan {

class ShardFile {
 public:
  // The file is made in `directory` by the first Put. REQUIRES: shard < kMaxShards.
  ShardFile(rocksdb::Env* env, const std::string& directory, uint32_t shard);

  // Appends a row, or a block of a dense parameter: `block` as in common/row_format.h, its header naming `key`. Tables
  // ascend from 1, and keys within a table, as unsigned numbers. InvalidArgument names the entry that is out of order
  // or no block; a failed write is reported as well. After an error every later call returns it again.
  absl::Status Put(uint32_t table, uint64_t key, absl::string_view block);

  // Keeps `state` in the file. FailedPrecondition after a Put: it is the file's first entry.
  absl::Status PutState(const proto::ShardState& state);

  // Closes the file, on disk, and reads it back for its checksums. Nothing may follow. Without any entry there is no
  // file.
  absl::Status Finish();

  bool finished() const { return finished_; }
  uint32_t shard() const { return shard_; }
  // REQUIRES: finished(). Its entries are 0 if there is no file.
  const proto::SnapshotFile& file() const { return file_; }
  // Rows put into each table that has any, tables ascending.
  const std::vector<std::pair<uint32_t, uint64_t>>& table_rows() const { return table_rows_; }

 private:
  absl::Status Append(uint32_t table, uint64_t key, absl::string_view value);
  absl::Status FinishFile();

  rocksdb::Env* const env_;
  const uint32_t shard_;
  const std::string path_;
  std::unique_ptr<rocksdb::SstFileWriter> sst_;  // Null before the first Put and after Finish.
  absl::Status status_;                          // The first error.
  bool finished_ = false;
  uint32_t last_table_ = 0;
  uint64_t last_key_ = 0;  // of file_.entries() > 0
  proto::SnapshotFile file_;
  std::vector<std::pair<uint32_t, uint64_t>> table_rows_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_STORAGE_SHARD_FILE_H_
