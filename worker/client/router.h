// Router: which server gets which part of a pull or push. Immutable, thread-safe.
//
// A request of a job becomes one request a server, in the order of the shard map, empty or not: in sync mode each
// server waits for every rank's. Keys are hashed and grouped once. With one server everything passes through as it is.
#ifndef ROWAN_WORKER_CLIENT_ROUTER_H_
#define ROWAN_WORKER_CLIENT_ROUTER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/data_plane.h"
#include "common/placement.h"
#include "common/shard_map.h"

namespace rowan {

// InvalidArgument unless the map gives each of `num_shards` shards one of its servers.
absl::Status CheckShardMap(const ShardMap& map, uint32_t num_shards);

class Router {
 public:
  // A dense parameter wanted whole.
  struct Dense {
    uint32_t dense;
    absl::string_view name;
    absl::Span<float> values;  // (size)
  };
  // Movable. The requests' rows, outcomes and dense values are the caller's memory.
  struct Pulls {
    std::vector<PullRequest> requests;    // (num_servers); headers are left to the caller
    std::shared_ptr<const void> storage;  // of the keys and places of more than one server
  };

  // REQUIRES: CheckShardMap is OK with it.
  Router(Placement placement, const ShardMap& map)
      : placement_(placement), num_servers_(map.servers.size()), server_of_shard_(map.server_of_shard) {}

  size_t num_servers() const { return num_servers_; }

  // Each server is asked for its keys, in the order given, and writes their rows to the places that they have in the
  // whole. A table without keys of a server is not in its request. REQUIRES: tables have no places; n < 2^32 each.
  Pulls Pull(std::vector<TablePull> tables, absl::Span<const Dense> dense) const;

  // Each server gets its sections; header, weight, refused parameters and storage are the same in all.
  std::vector<PushRequest> Push(PushRequest whole) const;

 private:
  const Placement placement_;
  const size_t num_servers_;
  const std::vector<uint32_t> server_of_shard_;  // (num_shards)
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_ROUTER_H_
