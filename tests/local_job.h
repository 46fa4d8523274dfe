// A whole job for tests: servers and coordinator in this process, workers as threads.
#ifndef ROWAN_TESTS_LOCAL_JOB_H_
#define ROWAN_TESTS_LOCAL_JOB_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/digest.h"
#include "common/placement.h"
#include "common/shard_map.h"
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
  explicit LocalJob(const proto::JobSpec& spec, int threads = 2, uint64_t applied = 0, int num_servers = 1)
      : pool_(threads) {
    const std::vector<uint32_t> server_of_shard = EvenPlacement(spec.num_shards(), num_servers);
    std::vector<ShardHost*> hosts;
    for (int i = 0; i < num_servers; ++i) {
      engines_.push_back(std::make_unique<ShardEngine>(Placement(spec.num_shards()), &pool_,
                                                       ShardOwnership{1, ShardsOf(server_of_shard, i)}));
      hosts_.push_back(std::make_unique<EngineHost>(engines_.back().get()));
      hosts.push_back(hosts_.back().get());
    }
    coordinator_ = std::make_unique<Job>(spec, hosts);
    for (const auto& engine : engines_) {
      servers_.push_back(std::make_unique<ParameterServer>(
          ParameterServer::Options{spec, coordinator_->generation(), applied}, engine.get()));
    }
  }

  ShardEngine* engine(int i = 0) { return engines_[i].get(); }
  ParameterServer* server(int i = 0) { return servers_[i].get(); }
  Job* coordinator() { return coordinator_.get(); }

  Client::Options Options() {
    Client::Options options;
    options.coordinator = coordinator_.get();
    for (const auto& server : servers_) options.servers.push_back(server.get());
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
    const uint32_t ranks = coordinator_->spec().num_ranks();
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

  std::string Digest() const {
    rowan::Digest total;
    for (const auto& engine : engines_) total.Add(engine->TotalDigest());
    return total.ToHex();
  }
  ApplyCounts counts() const {
    ApplyCounts total;
    for (const auto& server : servers_) {
      const ApplyCounts counts = server->counts();
      total.updated_rows += counts.updated_rows;
      total.born_rows += counts.born_rows;
      total.refused_rows += counts.refused_rows;
      total.refused_dense += counts.refused_dense;
    }
    return total;
  }

 private:
  ThreadPool pool_;
  std::vector<std::unique_ptr<ShardEngine>> engines_;
  std::vector<std::unique_ptr<EngineHost>> hosts_;
  std::unique_ptr<Job> coordinator_;
  std::vector<std::unique_ptr<ParameterServer>> servers_;
};

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_LOCAL_JOB_H_
