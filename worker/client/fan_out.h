// FanOut: calls to all servers of a job, one request a server, as one Pending.
//
// A call ends when every server has answered: until then the caller's memory is in use. Its result is the first error
// to come; with more than one server it names the server. Thread-safe; outlived by its servers, and outlives its calls.
#ifndef ROWAN_WORKER_CLIENT_FAN_OUT_H_
#define ROWAN_WORKER_CLIENT_FAN_OUT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/data_plane.h"
#include "common/shard_map.h"
#include "worker/client/pending.h"
#include "worker/client/router.h"

namespace rowan {

class FanOut {
 public:
  // `servers` as in the map. `deadline`: of each call.
  FanOut(std::vector<DataPlane*> servers, const ShardMap& map, absl::Duration deadline);

  // Fences older incarnations of the rank on each server. All replies are in `replies` if it returns OK.
  absl::Status Hello(const RequestHeader& header, std::vector<HelloReply>* replies) const;
  // An error of one server lets go of the others at once. `waiting` is told about once a second what the first server
  // that has not answered waits for.
  Pending Pull(Router::Pulls pulls, DataPlane::PullWaiting waiting) const;
  // `then` gets the result before the Pending does. OK: every server has acknowledged its push.
  Pending Push(std::vector<PushRequest> pushes, std::function<void(const absl::Status&)> then) const;
  // Outside steps: servers that are asked for nothing are left out, and so are those that are pushed nothing.
  Pending Lookup(Router::Pulls pulls) const;
  Pending PushBare(std::vector<PushRequest> pushes) const;

  // "server 2 (10.0.0.7:7701)"; empty if there is only one.
  const std::string& name(size_t server) const { return names_[server]; }

 private:
  const std::vector<DataPlane*> servers_;
  std::vector<std::string> names_;
  const absl::Duration deadline_;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_FAN_OUT_H_
