// Scoring: what a trained model says of rows, read outside steps so that nothing changes.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CTR_SCORE_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CTR_SCORE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "worker/client.h"
#include "worker/examples/ctr/ctr_dataset.h"
#include "worker/examples/ctr/ctr_model.h"

namespace rowan {

// Rows in the order of the files, some thousands at a time.
struct CtrScores {
  absl::Span<const float> probabilities;  // (n), NaN for a bad row
  absl::Span<const float> labels;         // (n), of the good rows; NaN for a bad one
};

// Scores every row. More than `max_bad_share` of bad rows end it: InvalidArgument. `stop`, if not null, is asked
// between blocks: true ends it with Cancelled. A model that gives NaN or infinity for a good row: Internal, naming it.
absl::Status ScoreRows(const CtrDataset& dataset, double max_bad_share, CtrModel* model, Client* client,
                       const std::function<bool()>& stop, const std::function<absl::Status(const CtrScores&)>& take);

struct CtrMetrics {
  absl::optional<double> auc;  // empty if a class is missing
  absl::optional<double> logloss;
  int64_t samples = 0;         // good rows
  int64_t bad_rows = 0;
};

absl::StatusOr<CtrMetrics> EvaluateRows(const CtrDataset& dataset, double max_bad_share, CtrModel* model,
                                        Client* client, const std::function<bool()>& stop);

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CTR_SCORE_H_
