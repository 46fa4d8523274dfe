// LocalJob: a whole job in this process: coordinator, servers, and their threads. What the CTR example embeds and unit
// tests use; workers reach it over the local transport. Results do not depend on the number of servers.
#ifndef ROWAN_SERVER_SERVICE_LOCAL_JOB_H_
#define ROWAN_SERVER_SERVICE_LOCAL_JOB_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/digest.h"
#include "common/snapshot/reader.h"
#include "common/thread_pool.h"
#include "proto/job.pb.h"
#include "server/coordinator/job.h"
#include "server/service/engine_host.h"
#include "server/service/parameter_server.h"
#include "server/table/shard_engine.h"

namespace rowan {

class LocalJob {
 public:
  // `threads`: how many work on requests, the caller's included; all servers share them. InvalidArgument for a spec that
  // is none. REQUIRES: 1 <= num_servers.
  static absl::StatusOr<std::unique_ptr<LocalJob>> Create(const proto::JobSpec& spec, int threads, int num_servers = 1);
  // A job that goes on where the snapshot was taken, with its tables, rows and number of shards. `spec` says the mode
  // and the ranks; its shards and seed are the snapshot's. Every block is checked against its table
  // (InvalidArgument), and all of it against the manifest's digest, where there is one (DataLoss); errors name the directory. The
  // number of servers may be another one than before.
  static absl::StatusOr<std::unique_ptr<LocalJob>> Restore(const proto::JobSpec& spec, int threads,
                                                           SnapshotReader* snapshot, int num_servers = 1);

  ControlPlane* coordinator() { return job_.get(); }
  // All servers, as a client's options want them.
  std::vector<DataPlane*> data_planes();
  int num_servers() const { return static_cast<int>(servers_.size()); }
  ParameterServer* server(int i = 0) { return servers_[i]->server.get(); }
  ShardEngine* engine(int i = 0) { return &servers_[i]->engine; }

  // Over all servers. REQUIRES (Digest): no push is being applied.
  Digest TotalDigest() const;
  std::vector<TableUsage> Usage() const;
  ApplyCounts counts() const;
  // Sync: steps applied by every server.
  uint64_t applied() const;
  // Stops every server with this status (see ParameterServer).
  void Stop(const absl::Status& status);

  struct SnapshotInfo {
    uint64_t id = 1;
    proto::JobPosition position;
    std::map<std::string, std::string> application;
  };
  // Writes a full snapshot into `root` and returns its directory. REQUIRES: no push is in flight.
  absl::StatusOr<std::string> WriteSnapshot(const std::string& root, const SnapshotInfo& info);

 private:
  struct Server {
    Server(Placement placement, ThreadPool* pool, ShardOwnership ownership)
        : engine(placement, pool, std::move(ownership)), host(&engine) {}

    ShardEngine engine;
    EngineHost host;
    std::unique_ptr<ParameterServer> server;
  };

  LocalJob(const proto::JobSpec& spec, int threads, int num_servers, uint64_t applied);

  // The engine that owns the shard.
  ShardEngine* EngineOf(uint32_t shard) const { return &servers_[server_of_shard_[shard]]->engine; }
  uint32_t num_shards() const { return static_cast<uint32_t>(server_of_shard_.size()); }

  std::unique_ptr<ThreadPool> pool_;
  std::vector<uint32_t> server_of_shard_;  // (num_shards)
  std::vector<std::unique_ptr<Server>> servers_;
  std::unique_ptr<Job> job_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_LOCAL_JOB_H_
