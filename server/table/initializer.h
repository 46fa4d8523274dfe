// SliceInitializer: the values of a row's slice, or of a dense parameter, that was never pushed: a pure function of
// (seed, key, slice, element), so that nothing has to be stored. FROZEN: the vectors in initializer_test.cc hold for
// ever.
//
// All integers wrap. RandomBits: common/hash.h. u32 arithmetic from `x` on.
//
//   row    state = RandomBits(RandomBits(table seed, slice index), key)            64 bits
//          lo, hi = its lower and its upper 32 bits
//   bits   x  = lo + 0x9e3779b9 (i + 1)                                            element i
//          x ^= x >> 16;  x *= 0x21f0aaad;  x ^= hi
//          x ^= x >> 15;  x *= 0xd35a2d97;  x ^= x >> 15
//          (mixing constants: Wellons 2018-22, hash-prospector)
//   UNIFORM   (int32(x) >> 8) 2^-23 scale: 2^24 values, evenly spaced in [-scale, scale)
//   NORMAL    p = (float(x & 0x7fffffff) + 0.5) 2^-31, the chance of a larger magnitude; the sign is bit 31 of x
//             w = -log(p (2 - p));  z = sqrt(2) erfinv(1 - p) by the polynomials in w of Giles 2010 ("Approximating
//             the erfinv function", table 5), log by that of Cephes logf; value = +-z scale.
//             float multiplies, adds and square roots in the order of initializer.cc, none fused.
//             |z| is within 5e-7 (1 + |z|) of exact up to 5.2 (1 element in 5 million lies beyond) and within
//             1e-3 (1 + |z|) from there to the largest, 6.336.
//   CONSTANT  scale
//   ZEROS     0
//
// A dense parameter's element `index` is element index % 4096 of the row with key index / 4096, slice 0.
//
// The same bits on every instruction set. Immutable, thread-safe, cheap to copy.
#ifndef ROWAN_SERVER_TABLE_INITIALIZER_H_
#define ROWAN_SERVER_TABLE_INITIALIZER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/hash.h"
#include "proto/table.pb.h"

namespace rowan {

class SliceInitializer {
 public:
  // InvalidArgument naming field, value and range: an unknown kind, a scale that is not finite or beyond 1e30 or, for
  // UNIFORM and NORMAL, negative; a width outside 1 to 2^31.
  static absl::StatusOr<SliceInitializer> Create(const proto::Initializer& spec, uint64_t table_seed,
                                                 int64_t slice_index, int64_t width);

  int64_t width() const { return width_; }

  // Writes the initial values of row `key`. `values` needs the alignment of a float.
  void Fill(uint64_t key, float* values /* (width) */) const {
    kernel_(RandomBits(slice_seed_, key), 0, width_, scale_, values);
  }

  // Writes the elements [first_index, first_index + n) of a dense parameter; how it is cut does not matter.
  // REQUIRES: slice_index was 0. `width` plays no part.
  void FillRange(uint64_t first_index, int64_t n, float* out /* (n) */) const;

 private:
  // Writes elements [first, first + n) of the row with that state.
  using Kernel = void (*)(uint64_t state, uint32_t first, int64_t n, float scale, float* out);

  SliceInitializer() = default;

  int64_t width_ = 0;
  uint64_t slice_seed_ = 0;
  float scale_ = 0;
  Kernel kernel_ = nullptr;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_INITIALIZER_H_
