// rowan-ctr train: a whole job in this process: coordinator, server and workers over the local transport.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "common/progress.h"
#include "common/snapshot/catalog.h"
#include "common/status_macros.h"
#include "rocksdb/env.h"
#include "server/service/local_job.h"
#include "worker/data/assignment.h"
#include "worker/examples/ctr/ctr_command_util.h"
#include "worker/examples/ctr/ctr_commands.h"
#include "worker/examples/ctr/ctr_flags.h"
#include "worker/examples/ctr/ctr_score.h"
#include "worker/examples/ctr/ctr_trainer.h"
#include "worker/nn/gemm.h"
#include "worker/train/summary.h"

namespace rowan {
namespace {

std::string ProgressText(const CtrProgress& progress, int workers, absl::Duration elapsed) {
  const double seconds = std::max(1e-9, absl::ToDoubleSeconds(elapsed));
  const double left = seconds / std::max<int64_t>(1, progress.step) * (progress.total_steps - progress.step);
  const absl::optional<double> auc = progress.auc.Value();
  return absl::StrFormat("step %d/%d  %.0f samples/s  loss %.4f  AUC so far %s  %.0f s left", progress.step,
                         progress.total_steps, progress.samples * workers / seconds,
                         progress.loss / std::max<int64_t>(1, progress.loss_samples),
                         auc.has_value() ? absl::StrFormat("%.4f", *auc) : "undefined", std::ceil(left));
}

struct TrainRun {
  // What a rank has pushed. Its last push may be held by the server and never be applied.
  struct Pushed {
    int64_t steps = 0;
    int64_t samples = 0;
    int64_t samples_before_last = 0;
  };
  std::vector<CtrTrainResult> ranks;
  std::vector<Pushed> pushed;
  absl::Duration wall;
};

// How far the model has come: in sync mode whole steps, otherwise what every rank has done.
proto::JobPosition PositionOf(const TrainRun& run, int64_t steps_per_epoch, LocalJob* job, bool sync) {
  int64_t steps = run.pushed[0].steps;
  for (const TrainRun::Pushed& rank : run.pushed) steps = std::min(steps, rank.steps);
  if (sync) steps = job->applied();
  int64_t samples = 0;
  for (const TrainRun::Pushed& rank : run.pushed) {
    samples += sync && rank.steps > steps ? rank.samples_before_last : rank.samples;
  }
  proto::JobPosition position;
  position.set_step(steps);
  position.set_epoch(steps_per_epoch == 0 ? 0 : steps / steps_per_epoch);
  position.set_samples(samples);
  return position;
}

// All workers of the job, each in its thread. The first error lets the others go. `run` tells after an error too what
// was pushed.
absl::Status TrainAll(const CtrTrainOptions& options, const CtrDataset& dataset, LocalJob* job,
                      const Interrupt& interrupt, TrainRun* run) {
  const int workers = absl::GetFlag(FLAGS_workers);
  std::vector<std::unique_ptr<ThreadPool>> pools;
  std::vector<std::unique_ptr<Client>> clients;
  for (int r = 0; r < workers; ++r) {
    pools.push_back(std::make_unique<ThreadPool>(std::max(1, Threads() / workers), UseOneThreadPerProduct));
    Client::Options client;
    client.coordinator = job->coordinator();
    client.servers = job->data_planes();
    client.pool = pools.back().get();
    ROWAN_ASSIGN_OR_RETURN(auto connected, Client::Connect(client));
    clients.push_back(std::move(connected));
  }
  run->ranks.resize(workers);
  run->pushed.resize(workers);
  Mutex mu;
  absl::Status error;  // the first one, under mu
  ProgressLine line;
  Stopwatch watch;
  const absl::Time start = absl::Now();
  std::string last_text;
  const auto train_rank = [&](int r) {
    const auto after_step = [&, r](CtrProgress* progress) -> absl::Status {
      TrainRun::Pushed& pushed = run->pushed[r];
      pushed = {progress->step, progress->samples, pushed.samples};
      if (interrupt.requested()) return absl::CancelledError("interrupted");
      if (r == 0) {
        if (progress->step == progress->total_steps) {
          last_text = ProgressText(*progress, workers, absl::Now() - start);
        } else if (line.Due()) {
          line.Update(ProgressText(*progress, workers, absl::Now() - start));
          progress->loss = 0;
          progress->loss_samples = 0;
        }
      }
      return absl::OkStatus();
    };
    absl::StatusOr<CtrTrainResult> result = TrainCtr(options, dataset, pools[r].get(), clients[r].get(), after_step);
    if (result.ok()) {
      run->ranks[r] = *std::move(result);
      return;
    }
    MutexLock lock(&mu);
    if (error.ok()) error = result.status();
    job->Stop(absl::CancelledError(absl::StrCat("rank ", r, " ended: ", result.status().message())));
  };
  std::vector<std::thread> threads;
  for (int r = 1; r < workers; ++r) threads.emplace_back(train_rank, r);
  train_rank(0);
  for (std::thread& thread : threads) thread.join();
  run->wall = watch.Lap();
  ROWAN_RETURN_IF_ERROR(error);
  if (!last_text.empty()) line.Finish(last_text);
  return absl::OkStatus();
}

// How long WriteModel waits for another run that writes its model into the same directory.
constexpr absl::Duration kModelDirPatience = absl::Minutes(10);

// Adds a snapshot to --model_dir, after those that are there; other runs may add theirs meanwhile.
absl::Status WriteModel(const CtrTrainOptions& options, const proto::JobPosition& position, LocalJob* job) {
  const std::string root = absl::GetFlag(FLAGS_model_dir);
  if (root.empty()) return absl::OkStatus();
  LocalJob::SnapshotInfo info;
  info.position = position;
  info.application = ModelApplication(options.model);
  const absl::Time give_up = absl::Now() + kModelDirPatience;
  bool told = false;
  while (true) {
    ROWAN_ASSIGN_OR_RETURN(const std::vector<SnapshotEntry> there, ListSnapshots(rocksdb::Env::Default(), root));
    info.id = there.empty() ? 1 : there.back().id + 1;
    const absl::StatusOr<std::string> path = job->WriteSnapshot(root, info);
    if (path.ok()) {
      std::printf("model: %s\n", path->c_str());
      return absl::OkStatus();
    }
    // Another run took this id just now, or is writing.
    const bool taken = absl::IsAlreadyExists(path.status());
    if ((!taken && !absl::IsFailedPrecondition(path.status())) || absl::Now() > give_up) return path.status();
    if (taken) continue;
    if (!std::exchange(told, true)) {
      std::fprintf(stderr, "%s: waiting for another run that writes its model there\n", root.c_str());
    }
    absl::SleepFor(absl::Milliseconds(100));
  }
}

// `started` tells whether work has begun: until then what fails is what the user gave.
absl::Status Train(const Interrupt& interrupt, bool* started) {
  ROWAN_RETURN_IF_ERROR(CheckWritable("summary_json", absl::GetFlag(FLAGS_summary_json)));
  ROWAN_RETURN_IF_ERROR(CheckSnapshotRoot("model_dir", absl::GetFlag(FLAGS_model_dir)));
  ROWAN_ASSIGN_OR_RETURN(const CtrSplit data, OpenCtrSplit(absl::GetFlag(FLAGS_data), absl::GetFlag(FLAGS_test_data)));

  ROWAN_RETURN_IF_ERROR(MakeSnapshotRoot("model_dir", absl::GetFlag(FLAGS_model_dir)));

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

  proto::JobSpec spec;
  SetMode(&spec);
  spec.set_num_ranks(absl::GetFlag(FLAGS_workers));
  spec.set_num_shards(absl::GetFlag(FLAGS_shards));
  spec.set_seed(options.seed);
  ROWAN_ASSIGN_OR_RETURN(const std::unique_ptr<LocalJob> job, LocalJob::Create(spec, Threads()));
  if (absl::GetFlag(FLAGS_model_dir).empty()) {
    std::fprintf(stderr, "rowan-ctr train: without --model_dir the model is lost at the end\n");
  }
  std::fprintf(stderr, "training on %lld rows, testing on %lld\n", static_cast<long long>(data.train.rows()),
               static_cast<long long>(data.test.rows()));

  *started = true;
  TrainRun run;
  const absl::Status trained = TrainAll(options, data.train, job.get(), interrupt, &run);
  const bool interrupted = absl::IsCancelled(trained) && interrupt.requested();
  if (!trained.ok() && !interrupted) return trained;
  // Before anything else can fail: what was trained, until an interrupt too, is worth keeping.
  const int64_t steps_per_epoch = Assignment(data.train.rows(), options.batch_size, 0, 1).steps();
  const bool sync = spec.mode() == proto::JobSpec::SYNC;
  ROWAN_RETURN_IF_ERROR(WriteModel(options, PositionOf(run, steps_per_epoch, job.get(), sync), job.get()));
  ROWAN_RETURN_IF_ERROR(trained);
  int64_t samples = 0, bad_rows = 0;
  Profile profile;
  for (const CtrTrainResult& rank : run.ranks) {
    samples += rank.samples;
    bad_rows += rank.bad_rows;
    profile.Merge(rank.profile);
  }
  const double seconds = absl::ToDoubleSeconds(run.wall);
  std::printf("trained: %lld samples in %.2f s, %.0f samples/s\n", static_cast<long long>(samples), seconds,
              samples / std::max(1e-9, seconds));
  if (bad_rows > 0) std::printf("bad rows left out: %lld\n", static_cast<long long>(bad_rows));
  if (absl::GetFlag(FLAGS_profile)) std::fputs(profile.Table(run.wall, samples).c_str(), stdout);

  ThreadPool pool(Threads(), UseOneThreadPerProduct);
  UseOneThreadPerProduct();
  Client::Options reading;
  reading.coordinator = job->coordinator();
  reading.servers = job->data_planes();
  reading.takes_part = false;
  reading.pool = &pool;
  ROWAN_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, Client::Connect(reading));
  CtrModel model(options.model, &pool);
  ROWAN_RETURN_IF_ERROR(model.Open(options.rates, client.get()));
  ROWAN_ASSIGN_OR_RETURN(const CtrMetrics metrics, EvaluateRows(data.test, options.max_bad_share, &model, client.get(),
                                                                [&] { return interrupt.requested(); }));
  std::printf("test: %lld samples, AUC %s, log loss %s\n", static_cast<long long>(metrics.samples),
              MetricText(metrics.auc).c_str(), MetricText(metrics.logloss).c_str());

  int64_t rows = 0;
  for (const TableUsage& usage : job->Usage()) rows += usage.rows;
  const ApplyCounts counts = job->counts();
  if (counts.refused_rows > 0 || counts.refused_dense > 0) {
    std::printf("refused gradients with NaN or infinity: %lld rows, %lld dense parameters\n",
                static_cast<long long>(counts.refused_rows), static_cast<long long>(counts.refused_dense));
  }
  const std::string digest = job->TotalDigest().ToHex();
  std::printf("rows: %lld\ndigest: %s\n", static_cast<long long>(rows), digest.c_str());

  Summary summary;
  summary.Add("auc", metrics.auc);
  summary.Add("logloss", metrics.logloss);
  summary.Add("samples", samples);
  summary.Add("seconds", seconds);
  summary.Add("samples_per_second", samples / std::max(1e-9, seconds));
  summary.Add("digest", digest);
  summary.Add("rows", rows);
  return summary.Write(absl::GetFlag(FLAGS_summary_json));
}

}  // namespace

int RunTrain(const Program&, const CommandLine&, const Interrupt& interrupt) {
  bool started = false;
  const absl::Status status = Train(interrupt, &started);
  return ExitCode("train", status, started, interrupt);
}

}  // namespace rowan
