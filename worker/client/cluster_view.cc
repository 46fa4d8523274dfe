#include "worker/client/cluster_view.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/channel.h"
#include "common/coordinator_call.h"
#include "common/digest.h"
#include "common/grpc_status.h"
#include "common/status_macros.h"
#include "proto/coordinator.grpc.pb.h"

namespace rowan {
namespace {

constexpr absl::Duration kStatusDeadline = absl::Seconds(10);
constexpr absl::Duration kStatsDeadline = absl::Minutes(2);  // a digest reads every row
constexpr absl::Duration kAskEvery = absl::Milliseconds(100);

absl::StatusOr<proto::ClusterStatus> AskStatus(const std::string& coordinator) {
  ROWAN_ASSIGN_OR_RETURN(const auto channel, MakeChannel(coordinator, ChannelOptions()));
  grpc::ClientContext context;
  SetDeadline(&context, kStatusDeadline);
  proto::ClusterStatus status;
  ROWAN_RETURN_IF_ERROR(CoordinatorStatus(
      coordinator, proto::Coordinator::NewStub(channel)->GetStatus(&context, proto::GetStatusRequest(), &status)));
  return status;
}

absl::StatusOr<proto::ServerStats> AskServer(const std::string& address) {
  ROWAN_ASSIGN_OR_RETURN(const auto channel, MakeChannel(address, ChannelOptions()));
  grpc::ClientContext context;
  SetDeadline(&context, kStatsDeadline);
  proto::GetServerStatsRequest request;
  request.set_digests(true);
  proto::ServerStats stats;
  const absl::Status status =
      FromGrpcStatus(proto::ServerControl::NewStub(channel)->GetServerStats(&context, request, &stats));
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat("server at ", address, ": ", status.message()));
  return stats;
}

}  // namespace

absl::Status WaitForAllWorkers(const std::string& coordinator, absl::Duration deadline,
                               const std::function<bool()>& stop) {
  const absl::Time end = absl::Now() + deadline;
  while (true) {
    ROWAN_ASSIGN_OR_RETURN(const proto::ClusterStatus status, AskStatus(coordinator));
    if (status.state() == "finished") return absl::OkStatus();
    if (absl::StartsWith(status.state(), "failed")) return absl::AbortedError(status.state());
    if (status.state() == "stopping") return absl::CancelledError("the job was stopped");
    if (stop && stop()) return absl::CancelledError("interrupted");
    if (absl::Now() >= end) {
      std::string missing;
      for (const proto::WorkerStatus& worker : status.workers()) {
        if (worker.state() != "finished") absl::StrAppend(&missing, " rank ", worker.rank(), " (", worker.state(), ")");
      }
      return absl::DeadlineExceededError(
          absl::StrCat("not all workers finished within ", absl::FormatDuration(deadline), ":", missing));
    }
    absl::SleepFor(kAskEvery);
  }
}

absl::StatusOr<ClusterView> ViewCluster(const std::string& coordinator) {
  ROWAN_ASSIGN_OR_RETURN(const proto::ClusterStatus status, AskStatus(coordinator));
  ClusterView view;
  for (const proto::WorkerStatus& worker : status.workers()) view.samples += worker.position().samples();
  Digest digest;
  for (const proto::ServerAddress& server : status.map().servers()) {
    ROWAN_ASSIGN_OR_RETURN(const proto::ServerStats stats, AskServer(server.tcp()));
    for (const proto::TableStats& table : stats.tables()) {
      if (!table.dense()) view.rows += table.rows();
    }
    ROWAN_ASSIGN_OR_RETURN(const Digest part, Digest::Parse(stats.digest()));
    digest.Add(part);
  }
  view.digest = digest.ToHex();
  return view;
}

}  // namespace rowan
