// LateDataPlane: a data plane that is not there yet. The gRPC services of a server start before it knows its job; until
// Set() every request is Unavailable, afterwards all go to the server. Thread-safe.
#ifndef ROWAN_SERVER_SERVICE_LATE_DATA_PLANE_H_
#define ROWAN_SERVER_SERVICE_LATE_DATA_PLANE_H_

#include <atomic>
#include <utility>

#include "absl/status/status.h"
#include "common/data_plane.h"

namespace rowan {

class LateDataPlane final : public DataPlane {
 public:
  // `server` outlives all requests.
  void Set(DataPlane* server) { server_.store(server, std::memory_order_release); }

  absl::Status Hello(const RequestHeader& header, HelloReply* reply) override {
    DataPlane* const server = get();
    return server != nullptr ? server->Hello(header, reply) : NotYet();
  }
  void Pull(const PullRequest* request, PullWaiting waiting, PullDone done) override {
    if (DataPlane* const server = get()) return server->Pull(request, std::move(waiting), std::move(done));
    done(NotYet());
  }
  void CancelPull(const PullRequest* request) override {
    if (DataPlane* const server = get()) server->CancelPull(request);
  }
  void Push(PushRequest request, PushDone done) override {
    if (DataPlane* const server = get()) return server->Push(std::move(request), std::move(done));
    done({NotYet(), {}, 0});
  }
  void Lookup(const PullRequest* request, PullDone done) override {
    if (DataPlane* const server = get()) return server->Lookup(request, std::move(done));
    done(NotYet());
  }

 private:
  DataPlane* get() const { return server_.load(std::memory_order_acquire); }
  static absl::Status NotYet() { return absl::UnavailableError("waiting for the coordinator to take this server in"); }

  std::atomic<DataPlane*> server_{nullptr};
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_LATE_DATA_PLANE_H_
