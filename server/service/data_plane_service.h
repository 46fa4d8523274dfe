// DataPlaneService: a DataPlane on the network: proto/data_plane.proto's service over gRPC.
//
// A generic service: it takes every method that no other service of the server has, and refuses all but Exchange. Each
// stream is a DataStream. gRPC's own threads read and find requests; the work is done by a few threads of the service.
//
// Ends in this order: Shutdown() (streams are closed, waiting pulls cancelled), the grpc::Server, the service, the
// DataPlane. Thread-safe.
#ifndef ROWAN_SERVER_SERVICE_DATA_PLANE_SERVICE_H_
#define ROWAN_SERVER_SERVICE_DATA_PLANE_SERVICE_H_

#include <memory>
#include <set>

#include "common/channel.h"
#include "common/data_plane.h"
#include "common/mutex.h"
#include "grpcpp/generic/async_generic_service.h"
#include "server/service/data_stream.h"

namespace rowan {

class DataPlaneService final : public grpc::CallbackGenericService {
 public:
  // `plane` outlives the service.
  DataPlaneService(DataPlane* plane, DataPlaneSizes sizes, const DataStreamLimits& limits = DataStreamLimits());
  // Waits for requests that are being worked on. REQUIRES: the server has ended.
  ~DataPlaneService() override;

  // What the server that carries this service must let through, so that requests that are too large can be refused in
  // their replies: twice the limit.
  int64_t max_message_bytes() const;

  // Ends all streams, and those that come, with Unavailable.
  void Shutdown() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override
      ABSL_LOCKS_EXCLUDED(mu_);

  const std::shared_ptr<DataStreamContext> context_;
  Mutex mu_;
  bool shutdown_ ABSL_GUARDED_BY(mu_) = false;
  std::set<std::weak_ptr<DataStream>, std::owner_less<std::weak_ptr<DataStream>>> streams_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_DATA_PLANE_SERVICE_H_
