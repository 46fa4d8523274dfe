// Pieces: the fixed cut of a worker's part of a batch.
//
// Piece p of n samples is [PieceBegin(p, n), PieceBegin(p + 1, n)): a function of n alone, never of the number of
// threads. Each piece is computed by one thread, and what the pieces sum up is added in piece order; hence any number
// of threads gives the same bits. Pieces may be empty.
#ifndef ROWAN_WORKER_NN_PIECES_H_
#define ROWAN_WORKER_NN_PIECES_H_

#include <cstdint>

namespace rowan {

inline constexpr int64_t kPieces = 8;

// First sample of piece `p` of `n` samples; PieceBegin(kPieces, n) == n. REQUIRES: 0 <= p <= kPieces, 0 <= n < 2^60.
constexpr int64_t PieceBegin(int64_t p, int64_t n) { return n * p / kPieces; }

}  // namespace rowan

#endif  // ROWAN_WORKER_NN_PIECES_H_
