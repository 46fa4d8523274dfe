// LocalJob: a whole job in this process: coordinator, one server, and its threads. What the CTR example embeds and
// unit tests use; workers reach it over the local transport.
#ifndef ROWAN_SERVER_SERVICE_LOCAL_JOB_H_
#define ROWAN_SERVER_SERVICE_LOCAL_JOB_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
  // `threads`: how many work on requests, the caller's included. InvalidArgument for a spec that is none.
  static absl::StatusOr<std::unique_ptr<LocalJob>> Create(const proto::JobSpec& spec, int threads);
  // A job that goes on where the snapshot was taken, with its tables, rows and number of shards. `spec` says the mode
  // and the ranks; its shards and seed are the snapshot's. Every block is checked against its table.
  static absl::StatusOr<std::unique_ptr<LocalJob>> Restore(const proto::JobSpec& spec, int threads,
                                                           SnapshotReader* snapshot);

  ControlPlane* coordinator() { return job_.get(); }
  DataPlane* data_plane() { return server_.get(); }
  ParameterServer* server() { return server_.get(); }
  ShardEngine* engine() { return engine_.get(); }

  struct SnapshotInfo {
    uint64_t id = 1;
    proto::JobPosition position;
    std::map<std::string, std::string> application;
  };
  // Writes a full snapshot into `root` and returns its directory. REQUIRES: no push is in flight.
  absl::StatusOr<std::string> WriteSnapshot(const std::string& root, const SnapshotInfo& info);

 private:
  LocalJob(const proto::JobSpec& spec, int threads, uint64_t applied);

  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<ShardEngine> engine_;
  std::unique_ptr<EngineHost> host_;
  std::unique_ptr<Job> job_;
  std::unique_ptr<ParameterServer> server_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_LOCAL_JOB_H_
