// CoordinatorService: a Cluster over gRPC. No lock is held while a server is called. Thread-safe.
//
// The service must outlive the gRPC server that it was added to. Before that one is shut down, Shutdown() lets go of
// the calls that wait.
#ifndef ROWAN_SERVER_COORDINATOR_COORDINATOR_SERVICE_H_
#define ROWAN_SERVER_COORDINATOR_COORDINATOR_SERVICE_H_

#include <memory>
#include <string>

#include "common/clock.h"
#include "proto/coordinator.pb.h"
#include "server/coordinator/cluster.h"

namespace grpc {
class Service;
}

namespace rowan {

class CoordinatorService {
 public:
  // `clock` outlives the service. REQUIRES: Cluster::Check(options) is OK.
  CoordinatorService(const Cluster::Options& options, Clock* clock);
  ~CoordinatorService();

  grpc::Service* service();

  // Lets leases run out. To be called several times a second.
  void Tick();
  proto::ClusterStatus Status();
  std::string State();  // the status's `state`
  void StopJob();
  // The job was stopped.
  bool stopped();
  // ... and all who take part in it have been told.
  bool MayExit();

  // Calls that wait, and later ones that would, end with Unavailable.
  void Shutdown();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_COORDINATOR_COORDINATOR_SERVICE_H_
