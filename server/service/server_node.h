// ServerNode: a whole server on the network: it listens, joins a cluster, serves, and ends.
//
//   Start()   listens; every request is Unavailable
//   Join()    registers with the coordinator and serves the shards that it is given
//   Stop()    leaves: tells the coordinator, answers waiting pulls with Cancelled, ends all streams, joins all threads
//
// One thread at a time may call these; ended() is thread-safe.
#ifndef ROWAN_SERVER_SERVICE_SERVER_NODE_H_
#define ROWAN_SERVER_SERVICE_SERVER_NODE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "common/patience.h"
#include "server/service/server_core.h"

namespace rowan {

class ServerNode {
 public:
  struct Options {
    std::string listen;       // HOST:PORT; port 0: one that the system chooses
    std::string unix_socket;  // path of a socket for clients on this host; empty: none
    std::string coordinator;  // HOST:PORT
    std::string name;         // unique in the cluster; empty: the advertised address
    int threads = 1;          // that work on one request
    Patience patience;        // with a coordinator that is not there
  };
  // Errors of StartServer (common/channel.h).
  static absl::StatusOr<std::unique_ptr<ServerNode>> Start(const Options& options);
  // Stop().
  ~ServerNode();

  // What it listens on, with the port that was chosen.
  const std::string& address() const;

  // `advertise`: where others reach it. Errors of CoordinatorLink::Register and ServerCore::Create. REQUIRES: called
  // once.
  absl::Status Join(const std::string& advertise);

  // See CoordinatorLink. REQUIRES: Join returned OK.
  absl::optional<absl::Status> ended() const;
  uint32_t number() const;
  ServerCore* core();

  // Returns within about three seconds. A second call does nothing.
  void Stop();

 private:
  class Impl;
  explicit ServerNode(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_SERVER_NODE_H_
