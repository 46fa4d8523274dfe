// SignedLog: integers of any size and sign on a logarithmic scale that floats can hold.
//
//   x >= 0: log(1 + x)       x < 0: -log(1 - x)
//
// Computed in double, within 1e-14 of relative error, then rounded to float. FROZEN: only additions, multiplications
// and divisions in a fixed order, never fused, so that the bits are the same on every machine (those of the C library's
// log depend on the processor).
#ifndef ROWAN_WORKER_DATA_SIGNED_LOG_H_
#define ROWAN_WORKER_DATA_SIGNED_LOG_H_

#include <cstdint>

#include "absl/types/span.h"

namespace rowan {

// Writes SignedLog(x[i]) to out[i]. Thread-safe. REQUIRES: room for x.size() floats at `out`.
void SignedLogs(absl::Span<const int64_t> x, float* out);

inline float SignedLog(int64_t x) {
  float out;
  SignedLogs(absl::MakeConstSpan(&x, 1), &out);
  return out;
}

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_SIGNED_LOG_H_
