#include "worker/nn/gemm.h"

#include <glog/logging.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>

// Of the OpenMP runtime that oneDNN uses. Declared here because <omp.h> comes with a compiler, not with the runtime.
extern "C" void omp_set_num_threads(int threads);
extern "C" int omp_get_max_threads(void);

namespace rowan {

void UseOneThreadPerProduct() { omp_set_num_threads(1); }

void Gemm(const Factor& a, const Factor& b, int64_t m, int64_t n, int64_t k, bool accumulate, float* c, int64_t ldc) {
  CHECK_EQ(omp_get_max_threads(), 1) << "UseOneThreadPerProduct() was not called in this thread";
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (accumulate) return;
    for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, 0.0f);
    return;
  }
  const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, 1.0f, a.data,
                                          a.ld, b.data, b.ld, accumulate ? 1.0f : 0.0f, c, ldc);
  CHECK_EQ(status, dnnl_success) << "dnnl_sgemm of (" << m << ", " << k << ") x (" << k << ", " << n
                                 << "), leading dimensions " << a.ld << ", " << b.ld << ", " << ldc;
}

}  // namespace rowan
