// Snapshots of `argument` MB in 148-byte rows (16 values, 16 of Adagrad state), 16 shards, files in the page cache.
//   bazel run //tests/bench/server/storage:snapshot_bench -- --benchmark_filter=/500
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "common/row_format.h"
#include "common/snapshot/reader.h"
#include "common/snapshot/verify.h"
#include "common/thread_pool.h"
#include "server/storage/durable.h"
#include "server/storage/snapshot_writer.h"

namespace rowan {
namespace {

constexpr int kShards = 16;
constexpr int kThreads = 2;
constexpr int64_t kBlockBytes = kRowHeaderBytes + 4 * 32;

std::string Root() {
  const char* temp = std::getenv("TEST_TMPDIR");
  return absl::StrCat(temp == nullptr ? "/tmp" : temp, "/snapshot_bench.", getpid());
}

// Writes snapshot 1 and returns its directory.
std::string Write(int64_t megabytes) {
  const auto writer = SnapshotWriter::Create(rocksdb::Env::Default(), Root(), 1);
  const int64_t rows = megabytes * 1'000'000 / kBlockBytes / kShards;
  std::atomic<bool> ok{writer.ok()};
  ThreadPool pool(kThreads);
  pool.ParallelFor(ok ? kShards : 0, [&](int64_t shard) {
    ShardFile* const file = *(*writer)->NewShard(static_cast<uint32_t>(shard));
    std::string block(kBlockBytes, 'x');
    bool shard_ok = true;
    for (int64_t i = 0; i < rows; ++i) {
      const uint64_t key = static_cast<uint64_t>(i) << 40;
      StoreRowHeader({key, 1, 1, 0}, &block[0]);
      shard_ok = shard_ok && file->Put(1, key, block).ok();
    }
    if (!shard_ok || !file->Finish().ok()) ok = false;
  });
  proto::SnapshotManifest manifest;
  manifest.mutable_job()->set_num_shards(kShards);
  manifest.add_tables()->set_id(1);
  manifest.mutable_tables(0)->mutable_table()->set_name("t");
  return ok ? (*writer)->Publish(manifest).value_or("") : "";
}

void Remove() {
  RemoveDirectory(rocksdb::Env::Default(), Root() + "/snapshot-00000000000000000001").IgnoreError();
  RemoveDirectory(rocksdb::Env::Default(), Root()).IgnoreError();
}

void BM_WriteSnapshot(benchmark::State& state) {
  for (auto _ : state) {
    if (Write(state.range(0)).empty()) state.SkipWithError("write failed");
    state.PauseTiming();
    Remove();
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 1'000'000);
}

void BM_VerifySnapshot(benchmark::State& state) {
  const std::string path = Write(state.range(0));
  for (auto _ : state) {
    if (!VerifySnapshot(rocksdb::Env::Default(), path, kThreads).ok()) state.SkipWithError("verification failed");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 1'000'000);
  Remove();
}

// Open, which verifies, and all rows of all shards.
void BM_ReadSnapshot(benchmark::State& state) {
  const std::string path = Write(state.range(0));
  SnapshotReaderOptions options;
  options.verify_threads = kThreads;
  for (auto _ : state) {
    const auto reader = SnapshotReader::Open(rocksdb::Env::Default(), path, options);
    std::atomic<bool> ok{reader.ok()};
    ThreadPool pool(kThreads);
    pool.ParallelFor(ok ? kShards : 0, [&](int64_t shard) {
      uint64_t sum = 0;
      const absl::Status status =
          (*reader)->ReadShard(static_cast<uint32_t>(shard), [&](uint32_t, uint64_t key, absl::string_view block) {
            sum += key + static_cast<unsigned char>(block.back());
            return absl::OkStatus();
          });
      benchmark::DoNotOptimize(sum);
      if (!status.ok()) ok = false;
    });
    if (!ok) state.SkipWithError("read failed");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 1'000'000);
  Remove();
}

BENCHMARK(BM_WriteSnapshot)->Arg(8)->Arg(500)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_VerifySnapshot)->Arg(8)->Arg(500)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadSnapshot)->Arg(8)->Arg(500)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rowan

BENCHMARK_MAIN();
