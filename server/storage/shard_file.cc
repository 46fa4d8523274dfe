#include "server/storage/shard_file.h"

#include "absl/strings/str_cat.h"
#include "common/rocksdb_status.h"
#include "common/row_format.h"
#include "common/snapshot/file_checksum.h"
#include "common/snapshot/layout.h"
#include "common/snapshot/sst_options.h"
#include "common/status_macros.h"

namespace rowan {

ShardFile::ShardFile(rocksdb::Env* env, const std::string& directory, uint32_t shard)
    : env_(env), shard_(shard), path_(absl::StrCat(directory, "/", ShardFileName(shard))) {
  file_.set_name(ShardFileName(shard));
  file_.set_shard(shard);
}

absl::Status ShardFile::Put(uint32_t table, uint64_t key, absl::string_view block) {
  ROWAN_RETURN_IF_ERROR(status_);
  const auto invalid = [&](const auto&... why) {
    return status_ = absl::InvalidArgumentError(
               absl::StrCat("snapshot shard ", shard_, ", table ", table, ", key ", key, ": ", why...));
  };
  if (table == kShardStateTable) return invalid("tables begin at 1");
  if (block.size() < kRowHeaderBytes) return invalid("a block of ", block.size(), " bytes");
  if (LoadRowKey(block.data()) != key) return invalid("its block is of key ", LoadRowKey(block.data()));
  if (file_.entries() > 0 && (table < last_table_ || (table == last_table_ && key <= last_key_))) {
    return invalid("not after table ", last_table_, ", key ", last_key_);
  }
  ROWAN_RETURN_IF_ERROR(status_ = Append(table, key, block));
  if (table_rows_.empty() || table_rows_.back().first != table) table_rows_.emplace_back(table, 0);
  ++table_rows_.back().second;
  return absl::OkStatus();
}

absl::Status ShardFile::PutState(const proto::ShardState& state) {
  ROWAN_RETURN_IF_ERROR(status_);
  if (file_.entries() > 0) {
    return status_ = absl::FailedPreconditionError(absl::StrCat("snapshot shard ", shard_, ": state after an entry"));
  }
  return status_ = Append(kShardStateTable, 0, state.SerializeAsString());
}

absl::Status ShardFile::Append(uint32_t table, uint64_t key, absl::string_view value) {
  if (finished_) return absl::FailedPreconditionError(absl::StrCat(path_, ": finished"));
  if (sst_ == nullptr) {
    // Pages stay in the page cache: Finish reads them back.
    const rocksdb::Options options = SnapshotSstOptions(env_);
    sst_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(options), options, /*column_family=*/nullptr,
                                                    /*invalidate_page_cache=*/false);
    ROWAN_RETURN_IF_ERROR(FromRocksDb(sst_->Open(path_), path_));
  }
  char bytes[kSnapshotKeyBytes];
  StoreSnapshotKey({shard_, table, key}, bytes);
  ROWAN_RETURN_IF_ERROR(
      FromRocksDb(sst_->Put({bytes, sizeof(bytes)}, rocksdb::Slice(value.data(), value.size())), path_));
  last_table_ = table;
  last_key_ = key;
  file_.set_entries(file_.entries() + 1);
  return absl::OkStatus();
}

absl::Status ShardFile::Finish() {
  ROWAN_RETURN_IF_ERROR(status_);
  if (sst_ != nullptr) ROWAN_RETURN_IF_ERROR(status_ = FinishFile());
  finished_ = true;
  return absl::OkStatus();
}

absl::Status ShardFile::FinishFile() {
  rocksdb::ExternalSstFileInfo info;
  ROWAN_RETURN_IF_ERROR(FromRocksDb(sst_->Finish(&info), path_));  // Syncs the file.
  sst_.reset();
  ROWAN_ASSIGN_OR_RETURN(const FileChecksum sum, ChecksumFile(env_, path_));
  if (sum.bytes != info.file_size || info.num_entries != file_.entries()) {
    return absl::DataLossError(absl::StrCat(path_, ": ", sum.bytes, " bytes read back, expected ", info.file_size));
  }
  file_.set_bytes(sum.bytes);
  file_.set_crc32c(sum.crc32c);
  file_.mutable_piece_crc32c()->Assign(sum.piece_crc32c.begin(), sum.piece_crc32c.end());
  return absl::OkStatus();
}

}  // namespace rowan
