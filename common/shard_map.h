// ShardMap: which server holds which shard. A value, replaced as a whole when it changes.
#ifndef ROWAN_COMMON_SHARD_MAP_H_
#define ROWAN_COMMON_SHARD_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rowan {

struct ServerEndpoint {
  std::string tcp;   // HOST:PORT; empty for a server in this process
  std::string unix;  // path of a Unix socket for clients on the same host, or empty
  std::string host;  // identifies the host (the kernel's boot id)
};

struct ShardMap {
  uint64_t version = 0;
  std::vector<ServerEndpoint> servers;
  std::vector<uint32_t> server_of_shard;  // (num_shards): index into servers
};

// The first placement of a job: server i gets the i-th run of shards, sizes differing by at most one.
// REQUIRES: 1 <= num_servers.
inline std::vector<uint32_t> EvenPlacement(uint32_t num_shards, uint32_t num_servers) {
  std::vector<uint32_t> server_of_shard(num_shards);
  for (uint64_t s = 0; s < num_shards; ++s) server_of_shard[s] = static_cast<uint32_t>(s * num_servers / num_shards);
  return server_of_shard;
}

// The shards of one server: (num_shards), true where the map gives it the shard.
inline std::vector<bool> ShardsOf(const std::vector<uint32_t>& server_of_shard, uint32_t server) {
  std::vector<bool> shards(server_of_shard.size());
  for (size_t s = 0; s < shards.size(); ++s) shards[s] = server_of_shard[s] == server;
  return shards;
}

}  // namespace rowan

#endif  // ROWAN_COMMON_SHARD_MAP_H_
