// NetworkCluster: a coordinator and servers in this process, over real gRPC on ports that the system chose.
#ifndef ROWAN_TESTS_NETWORK_CLUSTER_H_
#define ROWAN_TESTS_NETWORK_CLUSTER_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/channel.h"
#include "common/clock.h"
#include "common/ticker.h"
#include "gtest/gtest.h"
#include "server/coordinator/coordinator_service.h"
#include "server/service/server_node.h"
#include "tests/status_matchers.h"

namespace rowan::testing {

class NetworkCluster {
 public:
  explicit NetworkCluster(const Cluster::Options& options) : service_(options, Clock::Real()) {
    auto started = StartServer({"127.0.0.1:0"},
                               [&](grpc::ServerBuilder& builder) { builder.RegisterService(service_.service()); });
    EXPECT_OK(started);
    started_ = *std::move(started);
    ticker_ = std::make_unique<Ticker>(absl::Milliseconds(20), [this] { service_.Tick(); });
  }
  ~NetworkCluster() {
    for (auto& server : servers_) server->Stop();
    StopCoordinator();
  }

  // `mode`, `ranks` and `servers` of a job of 16 shards.
  static Cluster::Options Job(proto::JobSpec::Mode mode, uint32_t ranks, uint32_t servers) {
    Cluster::Options options;
    options.job.set_mode(mode);
    options.job.set_num_ranks(ranks);
    options.job.set_num_shards(16);
    options.job.set_seed(5);
    options.num_servers = servers;
    return options;
  }

  // A server that has joined. REQUIRES: the cluster has room for it.
  ServerNode* AddServer(const std::string& unix_socket = "") {
    ServerNode::Options options;
    options.listen = "127.0.0.1:0";
    options.unix_socket = unix_socket;
    options.coordinator = address();
    auto server = ServerNode::Start(options);
    EXPECT_OK(server);
    EXPECT_OK((*server)->Join((*server)->address()));
    servers_.push_back(*std::move(server));
    return servers_.back().get();
  }

  void StopCoordinator() {
    ticker_ = nullptr;
    service_.Shutdown();
    if (started_.server == nullptr) return;
    started_.server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    started_.server->Wait();
    started_.server = nullptr;
  }

  const std::string& address() const { return started_.address; }
  CoordinatorService* coordinator() { return &service_; }
  ServerNode* server(size_t i) { return servers_[i].get(); }

 private:
  CoordinatorService service_;
  StartedServer started_;
  std::unique_ptr<Ticker> ticker_;
  std::vector<std::unique_ptr<ServerNode>> servers_;
};

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_NETWORK_CLUSTER_H_
