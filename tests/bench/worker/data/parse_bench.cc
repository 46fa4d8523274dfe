// BM_ParseCriteo: text to batches on one core, parsing, key hashing and transforms included. BM_IndexRows: the scan for
// rows that comes first. bytes_per_second is of text.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "common/hash.h"
#include "worker/data/batch.h"
#include "worker/data/batch_reader.h"
#include "worker/data/criteo_layout.h"
#include "worker/data/line_index.h"
#include "worker/data/text_file.h"

namespace rowan {
namespace {

constexpr int64_t kRows = 100'000;
constexpr int64_t kBatch = 2048;

// Rows as in Criteo's logs: small and large counts, a fifth of them missing, 8 hexadecimal digits, a tenth missing.
std::string Text() {
  std::string text;
  for (uint64_t row = 0; row < kRows; ++row) {
    absl::StrAppend(&text, row % 2);
    for (uint64_t i = 0; i < 13; ++i) {
      const uint64_t bits = RandomBits(row, i);
      text += '\t';
      if (bits % 5 != 0) absl::StrAppend(&text, (bits >> 8 & 0xffff) >> (bits >> 32) % 16);
    }
    for (uint64_t i = 13; i < 39; ++i) {
      const uint64_t bits = RandomBits(row, i);
      text += '\t';
      if (bits % 10 != 0) absl::StrAppend(&text, absl::Hex(bits >> 32, absl::kZeroPad8));
    }
    text += '\n';
  }
  return text;
}

struct Data {
  std::string path;
  int64_t bytes;
  LineIndex index;
};

const Data& GetData() {
  static const Data* const data = [] {
    std::string path = "/tmp/rowan-parse-bench-XXXXXX";
    const int fd = mkstemp(path.data());
    const std::string text = Text();
    if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
    close(fd);
    auto* const made = new Data{path, static_cast<int64_t>(text.size()), *OpenCriteoRows(path)};
    unlink(path.c_str());  // Its mapping lives on.
    return made;
  }();
  return *data;
}

// Argument: the window of the shuffle.
void BM_ParseCriteo(benchmark::State& state) {
  const Data& data = GetData();
  BatchReaderOptions options;
  options.window = state.range(0);
  options.batch_size = kBatch;
  BatchReader reader(&data.index, options);
  Batch batch;
  for (auto unused : state) {
    for (int64_t step = 0; step < reader.steps(); ++step) {
      if (!reader.Read(0, step, &batch).ok()) std::abort();
      benchmark::DoNotOptimize(batch.keys.data());
    }
  }
  state.SetBytesProcessed(state.iterations() * data.bytes);
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_ParseCriteo)->Arg(0)->Arg(kRows)->Unit(benchmark::kMillisecond);

void BM_IndexRows(benchmark::State& state) {
  const std::string text = Text();
  std::string path = "/tmp/rowan-parse-bench-XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  close(fd);
  for (auto unused : state) benchmark::DoNotOptimize(OpenCriteoRows(path)->size());
  unlink(path.c_str());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}
BENCHMARK(BM_IndexRows)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rowan

BENCHMARK_MAIN();
