// A whole job for tests: engine, server and coordinator in this process, workers as threads.
#ifndef ROWAN_TESTS_LOCAL_JOB_H_
#define ROWAN_TESTS_LOCAL_JOB_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/thread_pool.h"
#include "glog/logging.h"
#include "proto/job.pb.h"
#include "server/coordinator/job.h"
#include "server/service/engine_host.h"
#include "server/service/parameter_server.h"
#include "server/table/shard_engine.h"
#include "worker/client.h"

namespace rowan::testing {

inline proto::JobSpec JobOf(proto::JobSpec::Mode mode, uint32_t ranks, uint32_t shards = 16, uint32_t staleness = 0) {
  proto::JobSpec spec;
  spec.set_mode(mode);
  spec.set_num_ranks(ranks);
  spec.set_num_shards(shards);
  spec.set_staleness(staleness);
  spec.set_seed(5);
  return spec;
}

class LocalJob {
 public:
  explicit LocalJob(const proto::JobSpec& spec, int threads = 2, uint64_t applied = 0)
      : pool_(threads),
        engine_(Placement(spec.num_shards()), &pool_),
        host_(&engine_),
        coordinator_(spec, {&host_}),
        server_(std::make_unique<ParameterServer>(ParameterServer::Options{spec, coordinator_.generation(), applied},
                                                  &engine_)) {}

  ShardEngine* engine() { return &engine_; }
  ParameterServer* server() { return server_.get(); }
  Job* coordinator() { return &coordinator_; }

  Client::Options Options() {
    Client::Options options;
    options.coordinator = &coordinator_;
    options.server = server_.get();
    options.deadline = absl::Seconds(60);  // Long enough for a sanitizer, short enough to name what hangs.
    return options;
  }
  std::unique_ptr<Client> Connect() { return Connect(Options()); }
  std::unique_ptr<Client> ConnectTool() {
    Client::Options options = Options();
    options.takes_part = false;
    return Connect(options);
  }
  static std::unique_ptr<Client> Connect(const Client::Options& options) {
    auto client = Client::Connect(options);
    CHECK(client.ok()) << client.status();
    return *std::move(client);
  }

  // Connects all ranks, runs `work` for each in a thread of its own, and returns the first error by rank.
  absl::Status RunRanks(const std::function<absl::Status(Client*)>& work) {
    const uint32_t ranks = coordinator_.spec().num_ranks();
    std::vector<std::unique_ptr<Client>> clients;
    for (uint32_t r = 0; r < ranks; ++r) clients.push_back(Connect());
    std::vector<absl::Status> results(ranks);
    std::vector<std::thread> threads;
    for (uint32_t r = 0; r < ranks; ++r) {
      threads.emplace_back([&, r] { results[r] = work(clients[r].get()); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& result : results) {
      if (!result.ok()) return result;
    }
    return absl::OkStatus();
  }

  std::string Digest() const { return engine_.TotalDigest().ToHex(); }

 private:
  ThreadPool pool_;
  ShardEngine engine_;
  EngineHost host_;
  Job coordinator_;
  std::unique_ptr<ParameterServer> server_;
};

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_LOCAL_JOB_H_
