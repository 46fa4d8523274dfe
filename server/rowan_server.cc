// rowan-server: holds rows for a cluster. Ends with 0 when the job was stopped, with 128 + signal when a signal ended
// it, with 1 when it cannot go on.
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

#include "absl/flags/flag.h"
#include "absl/time/time.h"
#include "common/address.h"
#include "common/flag_rules.h"
#include "common/flags.h"
#include "common/interrupt.h"
#include "common/listen_flags.h"
#include "common/log.h"
#include "server/service/server_node.h"

ABSL_FLAG(std::string, coordinators, "", "The coordinator of the cluster.");
ROWAN_FLAG_CHECK(coordinators, "HOST:PORT or [IPv6]:PORT", rowan::IsTcpAddress);
ABSL_FLAG(std::string, unix_socket, "", "Path of a Unix socket for clients on this host; empty: none.");
ROWAN_FLAG_CHECK(unix_socket, "an absolute path of at most 107 bytes", [](const std::string& path) {
  return path.empty() || (path[0] == '/' && rowan::ParseAddress("unix:" + path).ok());
});
ABSL_FLAG(std::string, name, "", "Unique in the cluster, at most 255 bytes; empty: the advertised address.");
ROWAN_FLAG_CHECK(name, "a name of at most 255 bytes", [](const std::string& name) { return name.size() <= 255; });
ABSL_FLAG(int32_t, threads, 0, "Threads that work on a request; 0: one a core.");
ROWAN_FLAG_RANGE(threads, 0, 1024);
ABSL_FLAG(absl::Duration, wait, absl::Seconds(60),
          "How long to wait for a coordinator that does not answer, at the start and later, before giving up.");
ROWAN_FLAG_RANGE(wait, absl::ZeroDuration(), absl::Hours(24 * 365));

namespace rowan {
namespace {

Program MakeProgram() {
  const FlagGroup network = ListenFlags();
  return {
      "rowan-server",
      "holds rows for a cluster",
      {{"",
        "holds rows for a cluster",
        {{"Cluster", {"coordinators", "name", "wait"}}, network, {"Server", {"unix_socket", "threads"}}, LogFlags()},
        /*required=*/{"coordinators"}}}};
}

int Threads() {
  const int threads = absl::GetFlag(FLAGS_threads);
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int Fail(const absl::Status& status) {
  fprintf(stderr, "rowan-server: %s\n", std::string(status.message()).c_str());
  return 1;
}

int Run(const Program& program, const CommandLine& line) {
  const Interrupt interrupt;
  ServerNode::Options options;
  options.listen = ListenAddress();
  options.unix_socket = absl::GetFlag(FLAGS_unix_socket);
  options.coordinator = absl::GetFlag(FLAGS_coordinators);
  options.name = absl::GetFlag(FLAGS_name);
  options.threads = Threads();
  options.patience.limit = absl::GetFlag(FLAGS_wait);
  options.patience.pause = [&interrupt](absl::Duration time) { return !interrupt.WaitFor(time); };
  const auto node = ServerNode::Start(options);
  if (!node.ok()) return Fail(node.status());
  const auto advertise = AdvertisedAddress((*node)->address());
  if (!advertise.ok()) return UsageError(program, line, advertise.status().message());
  if (const absl::Status announced = AnnouncePort(program.name, (*node)->address()); !announced.ok()) {
    return Fail(announced);
  }
  absl::optional<absl::Status> ended;
  if (const absl::Status joined = (*node)->Join(*advertise); !joined.ok()) {
    ended = joined;
  } else {
    while (!interrupt.WaitFor(absl::Milliseconds(50)) && !(ended = (*node)->ended()).has_value()) {
    }
  }
  (*node)->Stop();
  if (interrupt.requested()) return 128 + interrupt.signal();
  return ended->ok() ? 0 : Fail(*ended);
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
