// rowan-coordinator: who takes part in a job. Ends with 0 when the job was stopped, with 128 + signal when a signal
// ended it, with 1 when it cannot start.
#include <chrono>
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/channel.h"
#include "common/clock.h"
#include "common/data_plane.h"
#include "common/flag_rules.h"
#include "common/flags.h"
#include "common/interrupt.h"
#include "common/job_mode.h"
#include "common/listen_flags.h"
#include "common/log.h"
#include "common/placement.h"
#include "glog/logging.h"
#include "server/coordinator/coordinator_service.h"

ABSL_FLAG(int32_t, servers, 1, "Servers of the job.");
ROWAN_FLAG_RANGE(servers, 1, 65536);
ABSL_FLAG(int32_t, workers, 1, "Workers of the job.");
ROWAN_FLAG_RANGE(workers, 1, static_cast<int32_t>(rowan::kFirstToolRank) - 1);
ABSL_FLAG(std::string, mode, "sync", "What a step sees of other workers.");
ROWAN_FLAG_CHECK(mode, rowan::kJobModes, [](const std::string& text) {
  rowan::proto::JobSpec job;
  return rowan::ParseJobMode(text, &job);
});
ABSL_FLAG(int32_t, shards, 256, "Shards of the tables, over all servers.");
ROWAN_FLAG_CHECK(shards, "a power of two from 1 to 65536",
                 [](int32_t shards) { return shards > 0 && rowan::IsValidShardCount(shards); });
ABSL_FLAG(uint64_t, seed, 1, "Tables without a seed of their own derive one from it.");
ABSL_FLAG(absl::Duration, lease, absl::Seconds(30),
          "How long a server or worker that is not heard from counts as being there.");
ROWAN_FLAG_RANGE(lease, absl::Milliseconds(500), absl::Hours(24));

namespace rowan {
namespace {

// How long the coordinator of a stopped job waits for those who have not heard of it.
constexpr absl::Duration kStopGrace = absl::Seconds(10);
constexpr absl::Duration kTellEvery = absl::Seconds(5);

Program MakeProgram() {
  return {"rowan-coordinator",
          "knows who takes part in a job",
          {{"",
            "knows who takes part in a job",
            {{"Job", {"servers", "workers", "mode", "shards", "seed", "lease"}}, ListenFlags(), LogFlags()}}}};
}

Cluster::Options OptionsOfFlags() {
  Cluster::Options options;
  ParseJobMode(absl::GetFlag(FLAGS_mode), &options.job);
  options.job.set_num_ranks(absl::GetFlag(FLAGS_workers));
  options.job.set_num_shards(absl::GetFlag(FLAGS_shards));
  options.job.set_seed(absl::GetFlag(FLAGS_seed));
  options.num_servers = absl::GetFlag(FLAGS_servers);
  options.lease = absl::GetFlag(FLAGS_lease);
  return options;
}

int Fail(const absl::Status& status) {
  fprintf(stderr, "rowan-coordinator: %s\n", std::string(status.message()).c_str());
  return 1;
}

// Where others come through a gateway, this host may be the one that cannot: no error.
void WarnIfUnreachable(const std::string& advertise) {
  const auto channel = MakeChannel(advertise);
  if (channel.ok() && (*channel)->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(3))) return;
  LOG(WARNING) << "the advertised address " << advertise << " cannot be reached from this host";
}

// Logs what the job does: each change, and every few seconds what it waits for.
class StateLog {
 public:
  void Note(const std::string& state) {
    // What is waited for changes with the time that has passed.
    const std::string kind = state.substr(0, absl::StartsWith(state, "waiting ") ? 17 : state.size());
    const bool again = absl::StartsWith(state, "waiting ") && absl::Now() - noted_ >= kTellEvery;
    if (kind == kind_ && !again) return;
    kind_ = kind;
    noted_ = absl::Now();
    LOG(INFO) << state;
  }

 private:
  std::string kind_;
  absl::Time noted_ = absl::InfinitePast();
};

int Run(const Program& program, const CommandLine& line) {
  const Interrupt interrupt;
  const Cluster::Options options = OptionsOfFlags();
  if (const absl::Status legal = Cluster::Check(options); !legal.ok()) {
    return UsageError(program, line, legal.message());
  }
  CoordinatorService service(options, Clock::Real());
  ServerOptions listen;
  listen.listen = ListenAddress();
  const auto started =
      StartServer(listen, [&](grpc::ServerBuilder& builder) { builder.RegisterService(service.service()); });
  if (!started.ok()) return Fail(started.status());
  const auto advertise = AdvertisedAddress(started->address);
  if (!advertise.ok()) return UsageError(program, line, advertise.status().message());
  if (const absl::Status announced = AnnouncePort(program.name, started->address); !announced.ok()) {
    return Fail(announced);
  }
  LOG(INFO) << "a " << JobModeText(options.job) << " job of " << options.num_servers << " servers and "
            << options.job.num_ranks() << " workers; others reach it with --coordinators=" << *advertise;
  if (line.given.count("advertise") > 0) WarnIfUnreachable(*advertise);
  StateLog log;
  absl::Time stopped = absl::InfiniteFuture();
  while (!interrupt.WaitFor(absl::Milliseconds(50))) {
    service.Tick();
    log.Note(service.State());
    if (service.MayExit()) break;
    if (service.stopped() && stopped == absl::InfiniteFuture()) stopped = absl::Now();
    if (absl::Now() - stopped > kStopGrace) {
      LOG(WARNING) << "some have not been told that the job was stopped";
      break;
    }
  }
  service.Shutdown();
  started->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
  started->server->Wait();
  return interrupt.requested() ? 128 + interrupt.signal() : 0;
}

}  // namespace
}  // namespace rowan

int main(int argc, char** argv) {
  const rowan::Program program = rowan::MakeProgram();
  const rowan::CommandLine line = rowan::ParseFlagsOrExit(program, argc, argv);
  if (const absl::Status status = rowan::InitLogging(program.name); !status.ok()) {
    return rowan::UsageError(program, line, status.message());
  }
  return rowan::Run(program, line);
}
