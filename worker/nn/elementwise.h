// Elementwise: the loops between the matrix products, by Highway with run-time dispatch.
//
// Sums have one fixed order (a column is summed from its first row on; a dot product has 16 partial sums, element j in
// sum j mod 16, added pairwise) and products are rounded before they are added, so that the bits are the same for every
// instruction set. Matrices are row-major without gaps. Arrays need no alignment and must not overlap unless they are
// the same argument. Thread-safe; sizes may be 0.
#ifndef ROWAN_WORKER_NN_ELEMENTWISE_H_
#define ROWAN_WORKER_NN_ELEMENTWISE_H_

#include <cstdint>

namespace rowan {

// y = max(y + bias, 0). A NaN stays a NaN: a broken model must not look healthy.
void AddBiasRelu(const float* bias,  // (n)
                 int64_t m, int64_t n,
                 float* y);  // (m, n), in and out

// The step back through a ReLU: delta = activation > 0 ? delta : 0; bias_gradient += the rows of delta.
void MaskByRelu(const float* activation,  // (m, n), what AddBiasRelu left
                int64_t m, int64_t n,
                float* delta,           // (m, n), in and out
                float* bias_gradient);  // (n), added to

// out[i] = x[i] . weights + bias.
void DotRows(const float* x,        // (m, n)
             const float* weights,  // (n)
             float bias, int64_t m, int64_t n,
             float* out);  // (m)

// sum += the rows of x, each times its scale.
void AddScaledRows(const float* x,      // (m, n)
                   const float* scale,  // (m)
                   int64_t m, int64_t n,
                   float* sum);  // (n), added to

// The step back from a dot product through the ReLU below it: x = x > 0 ? scale[i] * weights : 0; bias_gradient += the
// rows of the new x.
void DotRowsBack(const float* scale,    // (m), gradient of each dot product
                 const float* weights,  // (n)
                 int64_t m, int64_t n,
                 float* x,               // (m, n), in: activations; out: their gradient, before the ReLU
                 float* bias_gradient);  // (n), added to

// out[j] = parts[0][j] + parts[1][j] + ..., in this order.
void SumParts(const float* const* parts,  // `count` arrays of (n)
              int64_t count,              // at least 1
              int64_t n,
              float* out);  // (n)

}  // namespace rowan

#endif  // ROWAN_WORKER_NN_ELEMENTWISE_H_
