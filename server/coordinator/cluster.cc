#include "server/coordinator/cluster.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/data_plane.h"
#include "common/shard_map.h"
#include "common/status_macros.h"
#include "glog/logging.h"
#include "server/coordinator/job_spec.h"

namespace rowan {

absl::Status Cluster::Check(const Options& options) {
  ROWAN_RETURN_IF_ERROR(CheckJobSpec(options.job));
  if (options.num_servers < 1 || options.num_servers > options.job.num_shards()) {
    return absl::InvalidArgumentError(absl::StrCat("a job of ", options.num_servers, " servers and ",
                                                   options.job.num_shards(),
                                                   " shards: must have 1 server or more, and a shard for each"));
  }
  if (options.lease < absl::Milliseconds(100)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a lease of ", absl::FormatDuration(options.lease), ": must be at least 100ms"));
  }
  return absl::OkStatus();
}

Cluster::Cluster(const Options& options, Clock* clock)
    : options_(options),
      clock_(clock),
      now_(clock->Now()),
      catalogue_(options.job.seed()),
      servers_(options.num_servers, options.lease),
      workers_(options.job.num_ranks(), options.lease) {}

void Cluster::Tick() {
  const absl::Time now = clock_->Now();
  const absl::Duration gap = now - now_;
  if (gap < absl::ZeroDuration() || gap > options_.lease / 3) {
    servers_.Shift(gap);
    workers_.Shift(gap);
  }
  now_ = now;
  if (const std::string expired = workers_.Expire(now_); !expired.empty()) Fail(expired);
}

void Cluster::Fail(const std::string& why) {
  if (!failure_.empty() || stopped_) return;
  failure_ = why;
  LOG(ERROR) << "the job has failed: " << why;
}

std::string Cluster::WhyOver() const {
  if (!failure_.empty()) return failure_;
  return stopped_ ? "the job was stopped" : "";
}

absl::Status Cluster::CheckAlive(uint32_t protocol) const {
  if (protocol != proto::PROTOCOL_CURRENT) {
    return absl::FailedPreconditionError(absl::StrCat("protocol version ", protocol, ": this coordinator speaks ",
                                                      static_cast<int>(proto::PROTOCOL_CURRENT)));
  }
  if (stopped_) return absl::FailedPreconditionError("the job was stopped");
  return absl::OkStatus();
}

proto::ShardMap Cluster::Map() const {
  proto::ShardMap map;
  map.set_version(servers_.map_version());
  for (uint32_t i = 0; i < servers_.size(); ++i) *map.add_servers() = servers_.address(i);
  for (const uint32_t server : EvenPlacement(options_.job.num_shards(), servers_.size())) {
    map.add_server_of_shard(server);
  }
  return map;
}

absl::StatusOr<proto::RegisterServerReply> Cluster::RegisterServer(const proto::RegisterServerRequest& request) {
  Tick();
  ROWAN_RETURN_IF_ERROR(CheckAlive(request.protocol()));
  ROWAN_ASSIGN_OR_RETURN(const uint32_t server, servers_.Register(request, now_, begun_));
  proto::RegisterServerReply reply;
  reply.set_server(server);
  reply.set_incarnation(servers_.incarnation(server));
  reply.set_generation(kGeneration);
  *reply.mutable_job() = options_.job;
  *reply.mutable_map() = Map();
  for (proto::SnapshotTable& table : catalogue_.All()) *reply.add_tables() = std::move(table);
  reply.set_lease_ms(absl::ToInt64Milliseconds(options_.lease));
  return reply;
}

absl::StatusOr<proto::ServerHeartbeatReply> Cluster::ServerHeartbeat(const proto::ServerHeartbeatRequest& request) {
  Tick();
  ROWAN_RETURN_IF_ERROR(servers_.Heartbeat(request, now_));
  if (request.leaving() && begun_ && !workers_.AllFinished()) {
    Fail(absl::StrCat(servers_.Describe(request.server()), " has ended"));
  }
  proto::ServerHeartbeatReply reply;
  reply.set_lease_ms(absl::ToInt64Milliseconds(options_.lease));
  reply.set_stop(stopped_);
  reply.set_failure(failure_);
  return reply;
}

absl::StatusOr<proto::RegisterClientReply> Cluster::RegisterClient(const proto::RegisterClientRequest& request) {
  Tick();
  ROWAN_RETURN_IF_ERROR(CheckAlive(request.protocol()));
  if (request.takes_part() && !failure_.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("the job has failed: ", failure_));
  }
  if (!servers_.Complete()) return absl::UnavailableError(servers_.WaitsFor(now_));
  proto::RegisterClientReply reply;
  reply.set_rank(kFirstToolRank + next_tool_);
  reply.set_incarnation(1);
  if (request.takes_part()) {
    ROWAN_ASSIGN_OR_RETURN(const uint32_t rank, workers_.Register(request, now_));
    reply.set_rank(rank);
    reply.set_incarnation(workers_.incarnation(rank));
  } else {
    ++next_tool_;
  }
  begun_ = true;
  reply.set_generation(kGeneration);
  *reply.mutable_job() = options_.job;
  *reply.mutable_map() = Map();
  reply.set_lease_ms(absl::ToInt64Milliseconds(options_.lease));
  return reply;
}

absl::StatusOr<proto::ClientHeartbeatReply> Cluster::ClientHeartbeat(const proto::ClientHeartbeatRequest& request) {
  Tick();
  ROWAN_RETURN_IF_ERROR(workers_.Heartbeat(request, now_));
  if (!request.failure().empty()) Fail(absl::StrCat("rank ", request.rank(), " ended: ", request.failure()));
  proto::ClientHeartbeatReply reply;
  reply.set_lease_ms(absl::ToInt64Milliseconds(options_.lease));
  reply.set_failure(WhyOver());
  if (!reply.failure().empty()) workers_.MarkTold(request.rank());
  if (const std::string state = StateText(); absl::StartsWith(state, "waiting ")) reply.set_waiting(state);
  return reply;
}

absl::Status Cluster::CheckOpen() {
  Tick();
  ROWAN_RETURN_IF_ERROR(CheckAlive(proto::PROTOCOL_CURRENT));
  if (!failure_.empty()) return absl::FailedPreconditionError(absl::StrCat("the job has failed: ", failure_));
  if (!servers_.Complete()) return absl::UnavailableError(servers_.WaitsFor(now_));
  return absl::OkStatus();
}

void Cluster::Stop() {
  Tick();
  stopped_ = true;
}

bool Cluster::MayExit() const { return stopped_ && servers_.AllGone(now_) && workers_.AllTold(); }

std::string Cluster::StateText() const {
  if (stopped_) return "stopping";
  if (!failure_.empty()) return absl::StrCat("failed: ", failure_);
  if (workers_.AllFinished()) return "finished";
  if (std::string waits = servers_.WaitsFor(now_); !waits.empty()) return waits;
  if (std::string waits = workers_.WaitsFor(); !waits.empty()) return waits;
  return "training";
}

proto::ClusterStatus Cluster::Status() {
  Tick();
  proto::ClusterStatus status;
  *status.mutable_job() = options_.job;
  status.set_state(StateText());
  status.set_generation(kGeneration);
  *status.mutable_map() = Map();
  std::vector<uint32_t> shards(servers_.size());
  for (const uint32_t server : status.map().server_of_shard()) ++shards[server];
  for (uint32_t i = 0; i < servers_.size(); ++i) {
    *status.add_servers() = servers_.Status(i, now_);
    status.mutable_servers(i)->set_shards(shards[i]);
  }
  for (uint32_t rank = 0; rank < workers_.size(); ++rank) *status.add_workers() = workers_.Status(rank, now_);
  for (proto::SnapshotTable& table : catalogue_.All()) *status.add_tables() = std::move(table);
  return status;
}

}  // namespace rowan
