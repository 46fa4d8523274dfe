// ServerCore: what a server process holds of its job: threads, shards, and the data plane over them.
#ifndef ROWAN_SERVER_SERVICE_SERVER_CORE_H_
#define ROWAN_SERVER_SERVICE_SERVER_CORE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "common/thread_pool.h"
#include "proto/coordinator.pb.h"
#include "server/service/engine_host.h"
#include "server/service/parameter_server.h"
#include "server/table/shard_engine.h"

namespace rowan {

class ServerCore {
 public:
  // The server that the coordinator took in: its shards, with all tables so far. `threads`: how many work on one
  // request, the caller's included; at least 1. InvalidArgument for a registration that does not fit together.
  static absl::StatusOr<std::unique_ptr<ServerCore>> Create(const proto::RegisterServerReply& registration,
                                                            int threads);

  ShardHost* host() { return &host_; }
  ShardEngine* engine() { return &engine_; }
  ParameterServer* server() { return &server_; }

 private:
  ServerCore(const proto::RegisterServerReply& registration, int threads);

  ThreadPool pool_;
  ShardEngine engine_;
  EngineHost host_;
  ParameterServer server_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_SERVER_CORE_H_
