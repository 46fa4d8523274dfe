#include "worker/examples/ctr/train_in_cluster.h"

#include <cstdio>
#include <memory>

#include "absl/flags/flag.h"
#include "absl/time/clock.h"
#include "common/progress.h"
#include "common/status_macros.h"
#include "common/thread_pool.h"
#include "worker/client/cluster_view.h"
#include "worker/examples/ctr/ctr_command_util.h"
#include "worker/examples/ctr/ctr_flags.h"
#include "worker/examples/ctr/ctr_report.h"
#include "worker/nn/gemm.h"

namespace rowan {
namespace {

// How long rank 0 waits for the other workers once it has finished.
constexpr absl::Duration kOthersDeadline = absl::Hours(1);

}  // namespace

absl::Status TrainInCluster(const std::string& coordinator, const Interrupt& interrupt, bool* started) {
  ROWAN_RETURN_IF_ERROR(CheckWritable("summary_json", absl::GetFlag(FLAGS_summary_json)));
  ROWAN_ASSIGN_OR_RETURN(const CtrSplit data, OpenCtrSplit(absl::GetFlag(FLAGS_data), absl::GetFlag(FLAGS_test_data)));
  const CtrTrainOptions options = TrainOptionsOfFlags();

  *started = true;
  ThreadPool pool(Threads(), UseOneThreadPerProduct);
  Client::Options connect;
  connect.coordinators = coordinator;
  connect.unix_sockets = absl::GetFlag(FLAGS_unix_sockets);
  connect.pool = &pool;
  ROWAN_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, Client::Connect(connect));
  const bool tells = client->rank() == 0;
  const int64_t workers = client->job().num_ranks();
  if (tells) {
    std::fprintf(stderr, "training on %lld rows, testing on %lld\n", static_cast<long long>(data.train.rows()),
                 static_cast<long long>(data.test.rows()));
  }
  ProgressLine line;
  std::string last_text;
  Stopwatch watch;
  const absl::Time start = absl::Now();
  const absl::StatusOr<CtrTrainResult> result =
      TrainCtr(options, data.train, &pool, client.get(), [&](CtrProgress* progress) -> absl::Status {
        if (interrupt.requested()) return absl::CancelledError("interrupted");
        if (!tells) return absl::OkStatus();
        if (progress->step == progress->total_steps) {
          last_text = ProgressText(*progress, workers, absl::Now() - start);
        } else if (line.Due()) {
          line.Update(ProgressText(*progress, workers, absl::Now() - start));
          progress->loss = 0;
          progress->loss_samples = 0;
        }
        return absl::OkStatus();
      });
  if (!result.ok()) {
    // What ended the job elsewhere says more than the call that it cut short.
    if (const absl::Status elsewhere = client->failure(); !elsewhere.ok() && !interrupt.requested()) return elsewhere;
    client->ReportFailure(result.status());
    return result.status();
  }
  if (!tells) return absl::OkStatus();
  if (!last_text.empty()) line.Finish(last_text);
  ROWAN_RETURN_IF_ERROR(
      WaitForAllWorkers(coordinator, kOthersDeadline, [&] { return interrupt.requested(); }));
  const absl::Duration wall = watch.Lap();
  ROWAN_ASSIGN_OR_RETURN(const ClusterView view, ViewCluster(coordinator));
  PrintTrained(view.samples, result->bad_rows, wall, result->profile);
  return TestAndReport(options, data.test, connect, interrupt, view.samples, wall,
                       [&]() -> absl::StatusOr<ModelState> { return ModelState{view.rows, view.digest}; });
}

}  // namespace rowan
