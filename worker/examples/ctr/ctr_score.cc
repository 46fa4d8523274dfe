#include "worker/examples/ctr/ctr_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/data/batch_reader.h"
#include "worker/nn/metrics.h"

namespace rowan {
namespace {

constexpr int64_t kRowsPerBlock = 4096;

}  // namespace

absl::Status ScoreRows(const CtrDataset& dataset, double max_bad_share, CtrModel* model, Client* client,
                       const std::function<bool()>& stop, const std::function<absl::Status(const CtrScores&)>& take) {
  BatchReaderOptions options;
  options.layout = dataset.layout;
  options.first_row = dataset.begin;
  options.end_row = dataset.end;
  options.max_bad_share = max_bad_share;
  BatchReader reader(dataset.index.get(), options);
  Deduplicator deduplicator;
  CtrBatch batch;
  std::vector<bool> bad;
  std::vector<float> predicted, probabilities, labels;
  ROWAN_RETURN_IF_ERROR(client->Lookup({}, model->DenseParameters()));
  for (int64_t begin = dataset.begin; begin < dataset.end; begin += kRowsPerBlock) {
    if (stop && stop()) return absl::CancelledError("interrupted");
    const int64_t end = std::min(begin + kRowsPerBlock, dataset.end);
    ROWAN_RETURN_IF_ERROR(reader.ReadRange(begin, end, &batch.batch, &bad));
    MakeDistinct(&deduplicator, &batch);
    ROWAN_RETURN_IF_ERROR(client->Lookup(model->RowsOf(batch)));
    model->Predict(batch, &predicted);
    probabilities.assign(end - begin, std::numeric_limits<float>::quiet_NaN());
    labels.assign(end - begin, std::numeric_limits<float>::quiet_NaN());
    int64_t good = 0;
    for (int64_t i = 0; i < end - begin; ++i) {
      if (bad[i]) continue;
      if (!std::isfinite(predicted[good])) {
        return absl::InternalError(
            absl::StrCat(dataset.index->Where(begin + i), ": the model gives ", predicted[good]));
      }
      probabilities[i] = predicted[good];
      labels[i] = batch.batch.labels[good];
      ++good;
    }
    ROWAN_RETURN_IF_ERROR(take({probabilities, labels}));
  }
  return absl::OkStatus();
}

absl::StatusOr<CtrMetrics> EvaluateRows(const CtrDataset& dataset, double max_bad_share, CtrModel* model,
                                        Client* client, const std::function<bool()>& stop) {
  std::vector<float> probabilities, labels;
  CtrMetrics metrics;
  ROWAN_RETURN_IF_ERROR(ScoreRows(dataset, max_bad_share, model, client, stop, [&](const CtrScores& scores) {
    for (size_t i = 0; i < scores.probabilities.size(); ++i) {
      if (std::isnan(scores.probabilities[i])) {
        ++metrics.bad_rows;
        continue;
      }
      probabilities.push_back(scores.probabilities[i]);
      labels.push_back(scores.labels[i]);
    }
    return absl::OkStatus();
  }));
  metrics.samples = probabilities.size();
  metrics.auc = Auc(probabilities, labels);
  metrics.logloss = LogLoss(probabilities, labels);
  return metrics;
}

}  // namespace rowan
