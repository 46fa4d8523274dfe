// How snapshot files are made, for whoever opens one with RocksDB.
#ifndef ROWAN_COMMON_SNAPSHOT_SST_OPTIONS_H_
#define ROWAN_COMMON_SNAPSHOT_SST_OPTIONS_H_

#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace rowan {

// Bytewise order; no compression, since trained floats hardly shrink; a checksum on every block; no cache, since files
// are read once from end to end. The options that matter are recorded in each file, so a reader may use any others.
inline rocksdb::Options SnapshotSstOptions(rocksdb::Env* env) {
  rocksdb::BlockBasedTableOptions table;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  table.no_block_cache = true;
  rocksdb::Options options;
  options.env = env;
  options.compression = rocksdb::kNoCompression;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace rowan

#endif  // ROWAN_COMMON_SNAPSHOT_SST_OPTIONS_H_
