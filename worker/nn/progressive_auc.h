// ProgressiveAuc: the AUC so far of a stream of logits, for display.
//
// Logits fall into 2^14 buckets of 1/512 over [-16, 16), those beyond into the outermost; the pairs of one bucket count
// as ties. 256 KiB; Add costs a few ns a sample. The exact figure is Auc() in metrics.h. Not thread-safe.
#ifndef ROWAN_WORKER_NN_PROGRESSIVE_AUC_H_
#define ROWAN_WORKER_NN_PROGRESSIVE_AUC_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"

namespace rowan {

class ProgressiveAuc {
 public:
  ProgressiveAuc() : counts_(2 * kBuckets) {}

  // Takes samples in; a NaN logit is left out. A label counts as positive above 0.5.
  // REQUIRES: as many labels as logits.
  void Add(absl::Span<const float> logits, absl::Span<const float> labels);

  // Takes in all that `other` has seen. Counts are integers, so the order of additions does not matter.
  void Merge(const ProgressiveAuc& other);

  // Forgets all samples.
  void Reset();

  // Empty while a class is missing. Off by at most half the share of pairs that fell into one bucket.
  absl::optional<double> Value() const;

 private:
  static constexpr int64_t kBuckets = int64_t{1} << 14;

  std::vector<uint64_t> counts_;  // (kBuckets, 2): negatives and positives.
};

}  // namespace rowan

#endif  // ROWAN_WORKER_NN_PROGRESSIVE_AUC_H_
