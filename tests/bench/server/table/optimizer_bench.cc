// Nanoseconds a row: updates, initial values, gradient scaling, digest. 256 rows in turn, all in the first caches.
#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "common/digest.h"
#include "common/row_format.h"
#include "proto/table.pb.h"
#include "server/table/initializer.h"
#include "server/table/optimizer.h"
#include "server/table/vector_ops.h"

namespace rowan {
namespace {

constexpr int64_t kRows = 256;

void BM_Update(benchmark::State& state, proto::Optimizer::Kind kind) {
  const int64_t width = state.range(0);
  proto::Optimizer spec;
  spec.set_kind(kind);
  const SliceOptimizer optimizer = *SliceOptimizer::Create(spec, width);
  const int64_t row_floats = width + optimizer.state_floats() + kRowHeaderBytes / 4;
  std::vector<float> rows(kRows * row_floats, 0.01f), gradient(width, 1e-6f);
  for (int64_t row = 0; row < kRows; ++row) optimizer.InitState(&rows[row * row_floats + 5 + width]);
  int64_t push = 0;
  for (auto _ : state) {
    float* values = &rows[push % kRows * row_floats + 5];
    optimizer.Update(gradient.data(), push / kRows + 1, values, values + width);
    ++push;
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(BM_Update, sgd, proto::Optimizer::SGD)->Arg(1)->Arg(17)->Arg(64);
BENCHMARK_CAPTURE(BM_Update, adagrad, proto::Optimizer::ADAGRAD)->Arg(1)->Arg(17)->Arg(64);
BENCHMARK_CAPTURE(BM_Update, row_wise_adagrad, proto::Optimizer::ROW_WISE_ADAGRAD)->Arg(1)->Arg(17)->Arg(64);
BENCHMARK_CAPTURE(BM_Update, adam, proto::Optimizer::ADAM)->Arg(1)->Arg(17)->Arg(64);
BENCHMARK_CAPTURE(BM_Update, ftrl, proto::Optimizer::FTRL)->Arg(1)->Arg(17)->Arg(64);

void BM_Fill(benchmark::State& state, proto::Initializer::Kind kind) {
  proto::Initializer spec;
  spec.set_kind(kind);
  spec.set_scale(0.01f);
  const SliceInitializer initializer = *SliceInitializer::Create(spec, 1, 0, state.range(0));
  std::vector<float> values(state.range(0));
  uint64_t key = 0;
  for (auto _ : state) {
    initializer.Fill(key++, values.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(BM_Fill, uniform, proto::Initializer::UNIFORM)->Arg(1)->Arg(16)->Arg(17)->Arg(64);
BENCHMARK_CAPTURE(BM_Fill, normal, proto::Initializer::NORMAL)->Arg(1)->Arg(16)->Arg(17)->Arg(64);

void BM_ScaleAll(benchmark::State& state) {
  std::vector<float> in(state.range(0), 1e-6f), out(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(ScaleAll(in.data(), 0.5f, in.size(), out.data()));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_ScaleAll)->Arg(17)->Arg(64)->Arg(4096);

void BM_AddTo(benchmark::State& state) {
  std::vector<float> in(state.range(0), 1e-6f), acc(state.range(0));
  for (auto _ : state) {
    AddTo(in.data(), in.size(), acc.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_AddTo)->Arg(17)->Arg(64)->Arg(4096);

void BM_DigestRow(benchmark::State& state) {  // Floats of values and state together.
  std::vector<char> block(kRowHeaderBytes + 4 * state.range(0), 'x');
  const DigestTable table(DigestTable::Kind::kTable, "users");
  Digest digest;
  for (auto _ : state) digest.AddRow(table, block.data(), block.size());
  benchmark::DoNotOptimize(digest);
}
BENCHMARK(BM_DigestRow)->Arg(34)->Arg(128);

}  // namespace
}  // namespace rowan

BENCHMARK_MAIN();
