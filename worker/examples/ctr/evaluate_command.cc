// rowan-ctr evaluate: AUC and log loss of a stored model on labelled rows.
#include <cstdio>

#include "absl/flags/flag.h"
#include "common/status_macros.h"
#include "worker/examples/ctr/ctr_command_util.h"
#include "worker/examples/ctr/ctr_commands.h"
#include "worker/examples/ctr/ctr_flags.h"
#include "worker/examples/ctr/ctr_score.h"
#include "worker/train/profile.h"
#include "worker/train/summary.h"

namespace rowan {
namespace {

// `started` tells whether work has begun: until then what fails is what the user gave.
absl::Status Evaluate(const Interrupt& interrupt, bool* started) {
  ROWAN_RETURN_IF_ERROR(CheckWritable("summary_json", absl::GetFlag(FLAGS_summary_json)));
  ROWAN_ASSIGN_OR_RETURN(const CtrDataset data, OpenCtrDataset("data", absl::GetFlag(FLAGS_data)));
  ROWAN_RETURN_IF_ERROR(CheckLabelled(data, "data", absl::GetFlag(FLAGS_data)));
  ROWAN_ASSIGN_OR_RETURN(StoredModel stored, OpenStoredModel(absl::GetFlag(FLAGS_model_dir), Threads()));
  *started = true;
  Stopwatch watch;
  ROWAN_ASSIGN_OR_RETURN(const CtrMetrics metrics,
                         EvaluateRows(data, absl::GetFlag(FLAGS_max_bad_share), stored.model.get(), stored.client.get(),
                                      [&] { return interrupt.requested(); }));
  const double seconds = absl::ToDoubleSeconds(watch.Lap());
  std::printf("model: %s\ntest: %lld samples, AUC %s, log loss %s\n", stored.snapshot.c_str(),
              static_cast<long long>(metrics.samples), MetricText(metrics.auc).c_str(),
              MetricText(metrics.logloss).c_str());
  if (metrics.bad_rows > 0) std::printf("bad rows left out: %lld\n", static_cast<long long>(metrics.bad_rows));

  int64_t rows = 0;
  for (const TableUsage& usage : stored.job->Usage()) rows += usage.rows;
  Summary summary;
  summary.Add("auc", metrics.auc);
  summary.Add("logloss", metrics.logloss);
  summary.Add("samples", metrics.samples);
  summary.Add("seconds", seconds);
  summary.Add("samples_per_second", metrics.samples / std::max(1e-9, seconds));
  summary.Add("digest", stored.job->TotalDigest().ToHex());
  summary.Add("rows", rows);
  return summary.Write(absl::GetFlag(FLAGS_summary_json));
}

}  // namespace

int RunEvaluate(const Program&, const CommandLine&, const Interrupt& interrupt) {
  bool started = false;
  const absl::Status status = Evaluate(interrupt, &started);
  return ExitCode("evaluate", status, started, interrupt);
}

}  // namespace rowan
