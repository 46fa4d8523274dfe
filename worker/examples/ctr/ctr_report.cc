#include "worker/examples/ctr/ctr_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "common/thread_pool.h"
#include "worker/examples/ctr/ctr_command_util.h"
#include "worker/examples/ctr/ctr_flags.h"
#include "worker/examples/ctr/ctr_score.h"
#include "worker/nn/gemm.h"
#include "worker/train/summary.h"

namespace rowan {

CtrTrainOptions TrainOptionsOfFlags() {
  CtrTrainOptions options;
  options.model = DefaultCtrModelSpec();
  options.rates.rows = static_cast<float>(absl::GetFlag(FLAGS_row_learning_rate));
  options.rates.dense = static_cast<float>(absl::GetFlag(FLAGS_dense_learning_rate));
  options.batch_size = absl::GetFlag(FLAGS_batch_size);
  options.epochs = absl::GetFlag(FLAGS_epochs);
  options.shuffle_window = ShuffleWindow();
  options.seed = absl::GetFlag(FLAGS_seed);
  options.max_bad_share = absl::GetFlag(FLAGS_max_bad_share);
  options.pipeline = absl::GetFlag(FLAGS_pipeline);
  return options;
}

std::string ProgressText(const CtrProgress& progress, int64_t workers, absl::Duration elapsed) {
  const double seconds = std::max(1e-9, absl::ToDoubleSeconds(elapsed));
  const double left = seconds / std::max<int64_t>(1, progress.step) * (progress.total_steps - progress.step);
  const absl::optional<double> auc = progress.auc.Value();
  return absl::StrFormat("step %d/%d  %.0f samples/s  loss %.4f  AUC so far %s  %.0f s left", progress.step,
                         progress.total_steps, progress.samples * workers / seconds,
                         progress.loss / std::max<int64_t>(1, progress.loss_samples),
                         auc.has_value() ? absl::StrFormat("%.4f", *auc) : "undefined", std::ceil(left));
}

void PrintTrained(int64_t samples, int64_t bad_rows, absl::Duration wall, const Profile& profile) {
  const double seconds = absl::ToDoubleSeconds(wall);
  std::printf("trained: %lld samples in %.2f s, %.0f samples/s\n", static_cast<long long>(samples), seconds,
              samples / std::max(1e-9, seconds));
  if (bad_rows > 0) std::printf("bad rows left out: %lld\n", static_cast<long long>(bad_rows));
  if (absl::GetFlag(FLAGS_profile)) std::fputs(profile.Table(wall, samples).c_str(), stdout);
}

absl::Status TestAndReport(const CtrTrainOptions& options, const CtrDataset& test, Client::Options reading,
                           const Interrupt& interrupt, int64_t samples, absl::Duration wall,
                           const std::function<absl::StatusOr<ModelState>()>& state) {
  ThreadPool pool(Threads(), UseOneThreadPerProduct);
  UseOneThreadPerProduct();
  reading.takes_part = false;
  reading.pool = &pool;
  ROWAN_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, Client::Connect(reading));
  CtrModel model(options.model, &pool);
  ROWAN_RETURN_IF_ERROR(model.Open(options.rates, client.get()));
  ROWAN_ASSIGN_OR_RETURN(const CtrMetrics metrics, EvaluateRows(test, options.max_bad_share, &model, client.get(),
                                                                [&] { return interrupt.requested(); }));
  std::printf("test: %lld samples, AUC %s, log loss %s\n", static_cast<long long>(metrics.samples),
              MetricText(metrics.auc).c_str(), MetricText(metrics.logloss).c_str());
  ROWAN_ASSIGN_OR_RETURN(const ModelState model_state, state());
  std::printf("rows: %lld\ndigest: %s\n", static_cast<long long>(model_state.rows), model_state.digest.c_str());

  const double seconds = absl::ToDoubleSeconds(wall);
  Summary summary;
  summary.Add("auc", metrics.auc);
  summary.Add("logloss", metrics.logloss);
  summary.Add("samples", samples);
  summary.Add("seconds", seconds);
  summary.Add("samples_per_second", samples / std::max(1e-9, seconds));
  summary.Add("digest", model_state.digest);
  summary.Add("rows", model_state.rows);
  return summary.Write(absl::GetFlag(FLAGS_summary_json));
}

}  // namespace rowan
