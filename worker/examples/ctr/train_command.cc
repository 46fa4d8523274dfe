// rowan-ctr train: a whole job in this process: coordinator, server and workers over the local transport.
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
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
#include "worker/examples/ctr/ctr_report.h"
#include "worker/examples/ctr/ctr_trainer.h"
#include "worker/examples/ctr/train_in_cluster.h"
#include "worker/nn/gemm.h"

namespace rowan {
namespace {

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

  const CtrTrainOptions options = TrainOptionsOfFlags();
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
  const ApplyCounts counts = job->counts();
  if (counts.refused_rows > 0 || counts.refused_dense > 0) {
    std::printf("refused gradients with NaN or infinity: %lld rows, %lld dense parameters\n",
                static_cast<long long>(counts.refused_rows), static_cast<long long>(counts.refused_dense));
  }
  PrintTrained(samples, bad_rows, run.wall, profile);
  Client::Options reading;
  reading.coordinator = job->coordinator();
  reading.servers = job->data_planes();
  return TestAndReport(options, data.test, reading, interrupt, samples, run.wall, [&]() -> absl::StatusOr<ModelState> {
    ModelState state;
    for (const TableUsage& usage : job->Usage()) state.rows += usage.rows;
    state.digest = job->TotalDigest().ToHex();
    return state;
  });
}

}  // namespace

int RunTrain(const Program& program, const CommandLine& line, const Interrupt& interrupt) {
  const std::string coordinator = absl::GetFlag(FLAGS_coordinators);
  if (!coordinator.empty()) {
    for (const char* const flag : {"mode", "workers", "shards"}) {
      if (line.given.count(flag) == 0) continue;
      return UsageError(program, line,
                        absl::StrCat("--", flag, " does not go with --coordinators: the coordinator's flags say it"));
    }
    if (line.given.count("model_dir") != 0) {
      return UsageError(program, line, "--model_dir does not go with --coordinators: the model stays on the servers");
    }
  }
  bool started = false;
  const absl::Status status =
      coordinator.empty() ? Train(interrupt, &started) : TrainInCluster(coordinator, interrupt, &started);
  return ExitCode("train", status, started, interrupt);
}

}  // namespace rowan
