// Gemm: single-precision matrix product by oneDNN, one thread a product.
//
// Matrices are row-major with a leading dimension (floats from one row to the next). oneDNN's bits depend on its number
// of OpenMP threads, so every thread that multiplies must have called UseOneThreadPerProduct() once; Gemm dies
// otherwise. Thread-safe. For one machine and one build, the bits of a product are a function of operands and shape.
#ifndef ROWAN_WORKER_NN_GEMM_H_
#define ROWAN_WORKER_NN_GEMM_H_

#include <cstdint>

namespace rowan {

// Makes the products of the calling thread run on that thread alone. Pass it to ThreadPool as `on_start`, and call it
// in the thread that calls ParallelFor, which works too.
void UseOneThreadPerProduct();

// A factor op(M) of a product.
struct Factor {
  const float* data;  // M, row-major
  int64_t ld;         // floats from one row of M to the next, at least the columns of M
  bool transposed;    // op(M) is M's transpose
};

// c = op(a) op(b), or c += op(a) op(b) if `accumulate`; without it `c` is not read, so it may hold anything.
// op(a) is (m, k), op(b) is (k, n). Sizes may be 0: k == 0 gives zeros, or leaves `c` if `accumulate`.
// REQUIRES: `c` overlaps neither factor; ldc >= n; UseOneThreadPerProduct() was called in this thread.
void Gemm(const Factor& a, const Factor& b, int64_t m, int64_t n, int64_t k, bool accumulate,
          float* c,  // (m, n) in rows of `ldc` floats
          int64_t ldc);

}  // namespace rowan

#endif  // ROWAN_WORKER_NN_GEMM_H_
