// Metrics of a set of predictions, computed once over all of it.
//
// Scores and probabilities are floats as the model prints them (9 digits give them back exactly), so that anyone can
// compute the same figures from a prediction file. A label counts as positive above 0.5. Thread-safe.
#ifndef ROWAN_WORKER_NN_METRICS_H_
#define ROWAN_WORKER_NN_METRICS_H_

#include "absl/types/optional.h"
#include "absl/types/span.h"

namespace rowan {

// Every log loss of the project clamps probabilities to [kLogLossClamp, 1 - kLogLossClamp]: floats near 1 are 6e-8
// apart.
inline constexpr double kLogLossClamp = 1e-7;

// Area under the ROC curve: the share of (positive, negative) pairs in which the positive has the higher score, ties
// counting half. Pairs are counted in integers, so the order of the samples does not matter. Empty if a class is
// missing or a score is NaN. O(n log n). REQUIRES: as many labels as scores, at most 2^32.
absl::optional<double> Auc(absl::Span<const float> scores, absl::Span<const float> labels);

// Mean of -log p(label), nats a sample, summed in double in sample order. Empty without samples; NaN if one is.
// REQUIRES: as many labels as probabilities.
absl::optional<double> LogLoss(absl::Span<const float> probabilities, absl::Span<const float> labels);

// Clicks predicted / clicks seen: above 1 the model promises too much. Empty if no label is positive.
// REQUIRES: as many labels as probabilities.
absl::optional<double> Calibration(absl::Span<const float> probabilities, absl::Span<const float> labels);

}  // namespace rowan

#endif  // ROWAN_WORKER_NN_METRICS_H_
