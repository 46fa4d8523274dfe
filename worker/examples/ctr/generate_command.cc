// rowan-ctr generate: clicks of a known model.
#include <cstdio>

#include "absl/flags/flag.h"
#include "common/status_macros.h"
#include "worker/examples/ctr/ctr_command_util.h"
#include "worker/examples/ctr/ctr_commands.h"
#include "worker/examples/ctr/ctr_flags.h"
#include "worker/examples/ctr/generator.h"
#include "worker/train/summary.h"

namespace rowan {
namespace {

// `started` tells whether work has begun: until then what fails is what the user gave.
absl::Status Generate(const Interrupt& interrupt, bool* started) {
  GeneratorOptions options;
  options.rows = absl::GetFlag(FLAGS_rows);
  options.seed = absl::GetFlag(FLAGS_seed);
  options.threads = Threads();
  options.stop = [&] { return interrupt.requested(); };
  const std::string out = absl::GetFlag(FLAGS_out);
  ROWAN_RETURN_IF_ERROR(CheckWritable("out", out));
  ROWAN_RETURN_IF_ERROR(CheckWritable("summary_json", absl::GetFlag(FLAGS_summary_json)));
  *started = true;
  ROWAN_ASSIGN_OR_RETURN(const GeneratorReport report, WriteRows(options, out));
  std::printf("generated: %lld rows, %lld clicks, to %s\n", static_cast<long long>(report.rows),
              static_cast<long long>(report.clicks), out.c_str());
  std::printf("best AUC that any model could reach: %s on all rows, %s on the last fifth\n",
              MetricText(report.best_auc_all).c_str(), MetricText(report.best_auc_last_fifth).c_str());
  Summary summary;
  summary.Add("rows", report.rows);
  summary.Add("clicks", report.clicks);
  summary.Add("best_auc_all", report.best_auc_all);
  summary.Add("best_auc_last_fifth", report.best_auc_last_fifth);
  return summary.Write(absl::GetFlag(FLAGS_summary_json));
}

}  // namespace

int RunGenerate(const Program&, const CommandLine&, const Interrupt& interrupt) {
  bool started = false;
  const absl::Status status = Generate(interrupt, &started);
  return ExitCode("generate", status, started, interrupt);
}

}  // namespace rowan
