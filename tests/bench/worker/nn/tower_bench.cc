// Forward, loss and backward of the click model's default tower, beside its matrix products alone.
//
//   bazel run //tests/bench/worker/nn:tower_bench
//
// A step and its products alternate in one run, for the machine is noisy; figures are medians over the iterations.
//   samples_per_s           of whole steps
//   products_samples_per_s  if a step were nothing but its products
//   product_share           median of (time of the products / time of the step), pair by pair
//   product_cpu_share       the same in CPU time of all threads, which other load on the machine moves less
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <vector>

#include "common/thread_pool.h"
#include "worker/nn/gemm.h"
#include "worker/nn/loss.h"
#include "worker/nn/mlp.h"
#include "worker/nn/pieces.h"
#include "worker/nn/piecewise_mlp.h"

namespace rowan {
namespace {

constexpr int64_t kDense = 26;  // Inputs that are no embeddings: their gradient is not wanted.

double Seconds(std::chrono::steady_clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

std::vector<float> Random(int64_t n, float scale, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::vector<float> values(n);
  for (float& value : values) value = uniform(random);
  return values;
}

// The products of one training step over the hidden layers of a tower, piece by piece as PiecewiseMlp cuts them.
class Products {
 public:
  Products(const Mlp& mlp, int64_t batch) : dims_(mlp.dims()) {
    for (int64_t p = 0; p < kPieces; ++p) {
      pieces_.emplace_back();
      const int64_t rows = std::min(PieceBegin(p + 1, batch) - PieceBegin(p, batch), PiecewiseMlp::kBlockRows);
      for (size_t i = 0; i + 1 < dims_.size(); ++i) {
        pieces_[p].activations.push_back(Random(rows * dims_[i + 1], 0.1f, i));
        pieces_[p].deltas.push_back(Random(rows * dims_[i + 1], 0.1f, i));
        pieces_[p].gradients.emplace_back(dims_[i] * dims_[i + 1]);
      }
    }
  }

  void Run(ThreadPool* pool, const std::vector<const float*>& params, int64_t batch, float* x, float* dx) {
    pool->ParallelFor(kPieces, [&](int64_t p) {
      Piece& piece = pieces_[p];
      int64_t begin = PieceBegin(p, batch);
      for (const int64_t end = PieceBegin(p + 1, batch); begin < end;) {
        const int64_t m = std::min(end - begin, PiecewiseMlp::kBlockRows);
        const int64_t hidden = static_cast<int64_t>(dims_.size()) - 2;
        const float* const block_x = x + begin * dims_[0];
        for (int64_t i = 0; i < hidden; ++i) {
          const float* const input = i == 0 ? block_x : piece.activations[i - 1].data();
          Gemm({input, dims_[i], false}, {params[2 * i], dims_[i + 1], false}, m, dims_[i + 1], dims_[i], false,
               piece.activations[i].data(), dims_[i + 1]);
        }
        for (int64_t i = hidden - 1; i >= 0; --i) {
          const float* const input = i == 0 ? block_x : piece.activations[i - 1].data();
          const int64_t from = i == 0 ? kDense : 0;
          float* const below = i == 0 ? dx + begin * dims_[0] + from : piece.deltas[i - 1].data();
          Gemm({input, dims_[i], true}, {piece.deltas[i].data(), dims_[i + 1], false}, dims_[i], dims_[i + 1], m,
               begin != PieceBegin(p, batch), piece.gradients[i].data(), dims_[i + 1]);
          Gemm({piece.deltas[i].data(), dims_[i + 1], false}, {params[2 * i] + from * dims_[i + 1], dims_[i + 1], true},
               m, dims_[i] - from, dims_[i + 1], false, below, dims_[i]);
        }
        begin += m;
      }
    });
  }

 private:
  struct Piece {
    std::vector<std::vector<float>> activations;
    std::vector<std::vector<float>> deltas;
    std::vector<std::vector<float>> gradients;
  };
  const std::vector<int64_t> dims_;
  std::vector<Piece> pieces_;
};

void BM_Tower(benchmark::State& state) {
  UseOneThreadPerProduct();
  const int64_t batch = state.range(0);
  ThreadPool pool(static_cast<int>(state.range(1)), UseOneThreadPerProduct);
  const Mlp mlp("tower", {442, 256, 128, 1});
  std::vector<std::vector<float>> params;
  std::vector<std::vector<float>> gradients;
  std::vector<const float*> param_pointers;
  std::vector<float*> gradient_pointers;
  for (const MlpParameter& parameter : mlp.parameters()) {
    params.push_back(Random(parameter.size, std::sqrt(6.0f / (parameter.fan_in + parameter.fan_out)), params.size()));
    gradients.emplace_back(parameter.size);
  }
  for (size_t i = 0; i < params.size(); ++i) {
    param_pointers.push_back(params[i].data());
    gradient_pointers.push_back(gradients[i].data());
  }
  std::vector<float> x = Random(batch * 442, 1, 1);
  std::vector<float> dx(x.size());
  std::vector<float> labels(batch);
  for (int64_t i = 0; i < batch; ++i) labels[i] = i % 5 == 0;
  PiecewiseMlp tower(&mlp, &pool);
  Products products(mlp, batch);

  std::vector<double> step_seconds, product_seconds, shares, cpu_shares;
  for (auto _ : state) {
    const double cpu_start = CpuSeconds();
    const auto start = std::chrono::steady_clock::now();
    tower.Run(
        param_pointers, x.data(), batch,
        [&](const PiecewiseMlp::Block& block, const float* logits, float* dlogits) {
          benchmark::DoNotOptimize(SigmoidCrossEntropy(logits, labels.data() + block.begin, nullptr,
                                                       block.end - block.begin, dlogits, nullptr));
        },
        kDense, dx.data(), absl::MakeSpan(gradient_pointers));
    const double cpu_middle = CpuSeconds();
    const auto middle = std::chrono::steady_clock::now();
    products.Run(&pool, param_pointers, batch, x.data(), dx.data());
    const auto end = std::chrono::steady_clock::now();
    const double cpu_end = CpuSeconds();
    step_seconds.push_back(Seconds(middle - start));
    product_seconds.push_back(Seconds(end - middle));
    shares.push_back(Seconds(end - middle) / Seconds(middle - start));
    cpu_shares.push_back((cpu_end - cpu_middle) / (cpu_middle - cpu_start));
    state.SetIterationTime(Seconds(middle - start));
  }
  state.counters["samples_per_s"] = batch / Median(step_seconds);
  state.counters["products_samples_per_s"] = batch / Median(product_seconds);
  state.counters["product_share"] = Median(shares);
  state.counters["product_cpu_share"] = Median(cpu_shares);
}
BENCHMARK(BM_Tower)
    ->ArgNames({"batch", "threads"})
    ->Args({2048, 1})
    ->Args({2048, 2})
    ->Args({16384, 2})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rowan

BENCHMARK_MAIN();
