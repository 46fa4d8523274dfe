// ClickModel: the planted truth behind the generated clicks. GENERATOR.md states it in formulas.
//
// A row is a pure function of (seed, row number): 13 log-normal integers, 26 Zipf ids, the probability that this model
// gives them, and a click drawn with that probability. The model itself has no seed: files made with different seeds
// are samples of the same truth. Immutable after construction, so thread-safe; about 60 kB.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CLICK_MODEL_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CLICK_MODEL_H_

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "common/portable_math.h"
#include "worker/examples/ctr/zipf.h"

namespace rowan {

inline constexpr int kIntegerColumns = 13;
inline constexpr int kCategoricalColumns = 26;
inline constexpr int kLatentRank = 4;  // Length of the vectors whose products are the pairwise terms.

struct ClickRow {
  static constexpr int64_t kNoInteger = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kNoId = -1;

  bool click;
  double probability;                             // Of a click: 1 / (1 + exp(-(first_order + interaction))).
  double first_order;                             // Logit: the bias and what single columns add.
  double interaction;                             // Logit: what pairs of columns add.
  std::array<int64_t, kIntegerColumns> integers;  // kNoInteger where missing.
  std::array<int64_t, kCategoricalColumns> ids;   // 0 .. vocabulary - 1, 0 the most frequent; kNoId where missing.
};

// Constants of one column of integers: x = round(exp(location + scale * normal)) - offset.
struct IntegerColumn {
  double location;
  double scale;
  double missing;         // Share of rows without a value.
  int64_t offset;         // Values reach down to its negative.
  double weight;          // Logit for one standard deviation of the transformed value.
  double missing_weight;  // Logit where the value is missing.
};

// Constants of one column of categoricals.
struct CategoricalColumn {
  int64_t vocabulary;
  double exponent;  // Of Zipf's law.
  double missing;   // Share of rows without an id.
  double weight;    // Standard deviation over ids of the logit an id adds by itself.
  bool pairs;       // Has latent vectors: takes part in the pairwise terms.
};

absl::Span<const IntegerColumn> IntegerColumns();          // kIntegerColumns of them.
absl::Span<const CategoricalColumn> CategoricalColumns();  // kCategoricalColumns of them.

// The 32-bit value that stands for `id` in files; different for different ids of a column.
// REQUIRES: 0 <= column < kCategoricalColumns; 0 <= id < 2^32.
uint32_t CategoricalToken(int column, int64_t id);

class ClickModel {
 public:
  ClickModel();

  // Row number `row` of the data set `seed`. REQUIRES: row >= 0.
  ClickRow Row(uint64_t seed, int64_t row) const;

 private:
  using Latent = std::array<double, kLatentRank>;

  // The latent vectors of a column's ids: hash-derived, their mean under Zipf's law zero, their mean square length one.
  static std::vector<Latent> LatentVectors(int column);

  std::vector<Zipf> zipf_;                    // By column.
  std::vector<std::vector<Latent>> latents_;  // By column, then id; empty where the column has no pairs.
};

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CLICK_MODEL_H_
