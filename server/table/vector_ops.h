// Loops over float arrays for gradients and their sums. Pointers need the alignment of a float. Each element is one
// correctly rounded operation, so the bits are the same on every instruction set. Thread-safe.
#ifndef ROWAN_SERVER_TABLE_VECTOR_OPS_H_
#define ROWAN_SERVER_TABLE_VECTOR_OPS_H_

#include <cstdint>

namespace rowan {

// out[i] = in[i] * scale. False if any result is NaN or infinite; `out` is then unspecified. `out` may be `in`.
bool ScaleAll(const float* in,  // (n)
              float scale, int64_t n,
              float* out  // (n)
);

// acc[i] += in[i]. `in` may be `acc`.
void AddTo(const float* in,  // (n)
           int64_t n,
           float* acc  // (n)
);

// Whether none of `values` is NaN or infinite.
bool AllFinite(const float* values /* (n) */, int64_t n);

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_VECTOR_OPS_H_
