// ServerControlService: what the coordinator asks of this server, over gRPC. Thread-safe.
//
// It starts before the server knows its job, since the coordinator connects back before it takes a server in: until
// Serve() is called all but Identify is Unavailable. The service must outlive the gRPC server that it was added to.
#ifndef ROWAN_SERVER_SERVICE_SERVER_CONTROL_SERVICE_H_
#define ROWAN_SERVER_SERVICE_SERVER_CONTROL_SERVICE_H_

#include <cstdint>
#include <memory>

#include "server/coordinator/shard_host.h"
#include "server/service/parameter_server.h"
#include "server/table/shard_engine.h"

namespace grpc {
class Service;
}

namespace rowan {

class ServerControlService {
 public:
  // `process` is what Identify answers.
  explicit ServerControlService(uint64_t process);
  ~ServerControlService();

  grpc::Service* service();

  // What it works on; all outlive the gRPC server.
  struct Backend {
    uint32_t number;  // of this server in the shard map
    ShardHost* host;
    ShardEngine* engine;
    ParameterServer* server;
  };
  // REQUIRES: called once.
  void Serve(const Backend& backend);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_SERVER_CONTROL_SERVICE_H_
