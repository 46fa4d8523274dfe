// How fast rows travel, against a bare socket.
//
// Starts transport_server, a process of its own with tables of 4 M rows of 64 floats, and prints
//   pull_tcp_vs_socket RATIO   calls/s of pulls over gRPC on TCP, over messages of the same sizes through a raw TCP socket
//   pull_unix_vs_socket RATIO  the same on Unix sockets
//   push_tcp_vs_socket RATIO   pushes (Adagrad) over gRPC on TCP, over messages of the same sizes through a raw socket
// and, to stderr, the spread and a table of latencies. A call is 4096 rows with new keys; 4 are in flight. The two take
// turns; a figure is the median of the turns' ratios. Pulled rows are compared with the expected ones after each turn.
// usage: transport_bench [FIGURE | latency] [ROWS]
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/mutex.h"
#include "tests/bench/worker/bench_table.h"
#include "tests/bench/worker/raw_peer.h"
#include "worker/client/push_builder.h"
#include "worker/client/remote_data_plane.h"
#include "worker/examples/ctr/zipf.h"

extern char** environ;

namespace rowan::bench {
namespace {

constexpr int64_t kBatch = 4096;
constexpr int kInFlight = 4;
constexpr int kTurns = 11;
constexpr int kCallsPerTurn = 200;
constexpr int kLatencyCalls = 3000;
// Besides the arrays, in each message.
constexpr size_t kHead = 64;

double Seconds() { return absl::ToUnixNanos(absl::Now()) / 1e9; }

// transport_server as a child, ended with the object.
class ServerProcess {
 public:
  ServerProcess(const std::string& program, const std::string& rows) {
    char folder[] = "/tmp/rowan-bench-XXXXXX";
    CHECK(mkdtemp(folder) != nullptr);
    folder_ = folder;
    int in[2], out[2];
    CHECK_EQ(pipe2(in, O_CLOEXEC), 0);
    CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    const char* const argv[] = {program.c_str(), rows.c_str(), folder_.c_str(), nullptr};
    CHECK_EQ(posix_spawn(&pid_, program.c_str(), &actions, nullptr, const_cast<char**>(argv), environ), 0) << program;
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    stdin_ = in[1];
    FILE* const output = fdopen(out[0], "r");
    char tcp_address[256], unix_address[256];
    int port = 0;
    CHECK_EQ(std::fscanf(output, "%255s %255s %d", tcp_address, unix_address, &port), 3) << "the server did not start";
    std::fclose(output);
    tcp = tcp_address;
    unix_socket = unix_address;
    raw_port = static_cast<uint16_t>(port);
  }
  ~ServerProcess() {
    close(stdin_);
    int status = 0;
    waitpid(pid_, &status, 0);
    unlink((folder_ + "/grpc").c_str());
    unlink((folder_ + "/raw").c_str());
    rmdir(folder_.c_str());
  }
  int ConnectRaw(bool over_unix) const { return RawConnect(over_unix ? folder_ + "/raw" : "", raw_port); }

  std::string tcp, unix_socket;
  uint16_t raw_port;

 private:
  std::string folder_;
  pid_t pid_;
  int stdin_;
};

// Keys, drawn without end.
class Keys {
 public:
  Keys(int64_t rows, bool zipf) : rows_(rows), zipf_(rows, 1.05), random_(17), is_zipf_(zipf) {}
  void Draw(std::vector<uint64_t>* keys) {
    for (uint64_t& key : *keys) {
      // Popular rows are as far apart as others: ranks are keys through a hash anyway.
      key = KeyOf(is_zipf_ ? zipf_.Draw(&random_) - 1 : static_cast<int64_t>(RandomBits(1, draw_++) % rows_));
    }
  }

 private:
  const int64_t rows_;
  const Zipf zipf_;
  RandomStream random_;
  const bool is_zipf_;
  uint64_t draw_ = 0;
};

class Bench {
 public:
  Bench(const std::string& address, int64_t rows, bool zipf = false)
      : rows_(rows), keys_(rows, zipf), builder_(Placement(kShards), nullptr), schema_(MakeSchema(kPullTable)) {
    RemoteDataPlane::Options options;
    options.address = address;
    options.deadline = absl::Minutes(1);
    auto plane = RemoteDataPlane::Create(options);
    CHECK(plane.ok()) << plane.status();
    plane_ = *std::move(plane);
    HelloReply hello;
    const absl::Status status = plane_->Hello(Header(0), &hello);
    CHECK(status.ok()) << status;
    for (Slot& slot : slots_) {
      slot.keys.resize(kBatch);
      slot.rows.resize(kBatch * kWidth);
    }
    gradients_.assign(kBatch * kWidth, 1e-4f);
  }

  // Runs `calls` calls, `in_flight` at a time; seconds. `latencies` may be null.
  double Run(bool push, int calls, int in_flight, std::vector<double>* latencies) {
    const double start = Seconds();
    int sent = 0, received = 0;
    std::vector<int> free;
    for (int i = 0; i < in_flight; ++i) free.push_back(i);
    while (received < calls) {
      while (sent < calls && !free.empty()) {
        const int slot = free.back();
        free.pop_back();
        push ? SendPush(slot) : SendPull(slot);
        ++sent;
      }
      const std::vector<int> done = Wait();
      for (const int slot : done) {
        if (latencies != nullptr) latencies->push_back(slots_[slot].end - slots_[slot].start);
        free.push_back(slot);
      }
      received += done.size();
    }
    return Seconds() - start;
  }

  // The rows that came last, against what the table gives for their keys.
  void CheckRows() {
    std::vector<float> expected(kWidth);
    for (const Slot& slot : slots_) {
      if (!slot.pulled) continue;
      for (int64_t i = 0; i < kBatch; ++i) {
        schema_.FillAbsent(slot.keys[i], expected.data());
        CHECK_EQ(std::memcmp(expected.data(), &slot.rows[i * kWidth], kWidth * sizeof(float)), 0) << "row " << i;
      }
    }
  }

 private:
  struct Slot {
    std::vector<uint64_t> keys;
    std::vector<float> rows;
    PullRequest pull;
    bool pulled = false;
    double start = 0, end = 0;
  };

  static RequestHeader Header(uint64_t number) {
    RequestHeader header;
    header.generation = 1;
    header.rank = 0;
    header.incarnation = 1;
    header.number = number;
    return header;
  }

  void SendPull(int i) {
    Slot& slot = slots_[i];
    keys_.Draw(&slot.keys);
    slot.start = Seconds();
    slot.pulled = true;
    slot.pull.header = Header(0);
    slot.pull.tables = {{kPullTable, slot.keys, absl::MakeSpan(slot.rows), {}}};
    plane_->Lookup(&slot.pull, [this, i](const absl::Status& status) {
      CHECK(status.ok()) << status;
      Done(i);
    });
  }

  void SendPush(int i) {
    Slot& slot = slots_[i];
    keys_.Draw(&slot.keys);
    slot.start = Seconds();
    PushRequest push = builder_.Build({{kPushTable, kWidth, slot.keys, {}, gradients_}}, {});
    push.header = Header(next_push_++);
    push.weight = 1;
    plane_->Push(std::move(push), [this, i](const PushReply& reply) {
      CHECK(reply.status.ok()) << reply.status;
      CHECK_EQ(reply.refused_rows, 0u);
      for (const SectionOutcome outcome : reply.outcomes) CHECK(outcome == SectionOutcome::kApplied);
      Done(i);
    });
  }

  void Done(int slot) {
    slots_[slot].end = Seconds();
    MutexLock lock(&mu_);
    done_.push_back(slot);
    changed_.Signal();
  }

  std::vector<int> Wait() {
    MutexLock lock(&mu_);
    while (done_.empty()) changed_.WaitWithTimeout(&mu_, absl::Seconds(1));
    return std::exchange(done_, {});
  }

  const int64_t rows_;
  Keys keys_;
  PushBuilder builder_;
  const TableSchema schema_;
  std::vector<float> gradients_;
  Slot slots_[kInFlight];
  static uint64_t next_push_;
  Mutex mu_;
  CondVar changed_;
  std::vector<int> done_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<RemoteDataPlane> plane_;  // ends first
};

uint64_t Bench::next_push_ = 0;

void PrintRatio(const ServerProcess& server, const char* name, bool push, bool over_unix, int64_t rows) {
  Bench bench(over_unix ? server.unix_socket : server.tcp, rows);
  const int raw = server.ConnectRaw(over_unix);
  const size_t key_bytes = kBatch * sizeof(uint64_t);
  const size_t row_bytes = kBatch * kWidth * sizeof(float);
  std::vector<char> request(kHead + key_bytes + (push ? kBatch * sizeof(uint32_t) + row_bytes : 0));
  std::vector<std::vector<char>> answers(kInFlight, std::vector<char>(kHead + (push ? kShards : row_bytes)));
  bench.Run(push, kCallsPerTurn, kInFlight, nullptr);  // warm
  RawCalls(raw, kCallsPerTurn, kInFlight, &request, &answers);
  std::vector<double> ratios, ours, theirs;
  for (int turn = 0; turn < kTurns; ++turn) {
    ours.push_back(bench.Run(push, kCallsPerTurn, kInFlight, nullptr) / kCallsPerTurn);
    if (!push) bench.CheckRows();
    const double start = Seconds();
    RawCalls(raw, kCallsPerTurn, kInFlight, &request, &answers);
    theirs.push_back((Seconds() - start) / kCallsPerTurn);
    ratios.push_back(theirs.back() / ours.back());
  }
  close(raw);
  for (auto* figures : {&ratios, &ours, &theirs}) std::sort(figures->begin(), figures->end());
  std::fprintf(stderr, "%s: %.0f us a call, %.2f GB/s; socket %.0f us, %.2f GB/s; ratios %.2f to %.2f\n", name,
               ours[kTurns / 2] * 1e6, row_bytes / ours[kTurns / 2] / 1e9, theirs[kTurns / 2] * 1e6,
               row_bytes / theirs[kTurns / 2] / 1e9, ratios.front(), ratios.back());
  std::printf("%s %.2f\n", name, ratios[kTurns / 2]);
  std::fflush(stdout);
}

void PrintLatencies(const ServerProcess& server, int64_t rows) {
  std::fprintf(stderr, "%-6s %-5s %-12s %9s %9s %9s   microseconds, %ld rows, one call at a time\n", "over", "call",
               "keys", "p50", "p99", "p99.9", static_cast<long>(kBatch));
  for (const bool over_unix : {false, true}) {
    for (const bool push : {false, true}) {
      for (const bool zipf : {false, true}) {
        Bench bench(over_unix ? server.unix_socket : server.tcp, rows, zipf);
        bench.Run(push, kCallsPerTurn, 1, nullptr);
        std::vector<double> latencies;
        bench.Run(push, kLatencyCalls, 1, &latencies);
        std::sort(latencies.begin(), latencies.end());
        const auto at = [&](double q) { return 1e6 * latencies[static_cast<size_t>(q * (latencies.size() - 1))]; };
        std::fprintf(stderr, "%-6s %-5s %-12s %9.0f %9.0f %9.0f\n", over_unix ? "unix" : "tcp", push ? "push" : "pull",
                     zipf ? "Zipf(1.05)" : "uniform", at(0.5), at(0.99), at(0.999));
      }
    }
  }
}

int Run(const std::string& server_program, const std::string& what, const std::string& rows_text) {
  const int64_t rows = std::atoll(rows_text.c_str());
  const ServerProcess server(server_program, rows_text);
  const auto wanted = [&](const char* name) { return what.empty() || what == name; };
  if (wanted("pull_tcp_vs_socket")) PrintRatio(server, "pull_tcp_vs_socket", false, false, rows);
  if (wanted("pull_unix_vs_socket")) PrintRatio(server, "pull_unix_vs_socket", false, true, rows);
  if (wanted("push_tcp_vs_socket")) PrintRatio(server, "push_tcp_vs_socket", true, false, rows);
  if (wanted("latency")) PrintLatencies(server, rows);
  return 0;
}

}  // namespace
}  // namespace rowan::bench

int main(int argc, char** argv) {
  const std::string program = argv[0];
  const std::string folder = program.substr(0, program.rfind('/') + 1);
  return rowan::bench::Run(folder + "transport_server", argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "4000000");
}
