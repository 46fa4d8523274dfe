#include "server/admin/cluster_client.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/channel.h"
#include "common/coordinator_call.h"
#include "common/digest.h"
#include "common/grpc_status.h"
#include "common/host_id.h"
#include "common/placement.h"
#include "common/random_id.h"
#include "common/status_macros.h"
#include "proto/coordinator.grpc.pb.h"
#include "server/admin/row_lookup.h"

namespace rowan {
namespace {

uint64_t WidthOf(const proto::SnapshotTable& table) {
  if (table.has_dense()) return table.dense().size();
  uint64_t width = 0;
  for (const proto::Slice& slice : table.table().slices()) width += slice.width();
  return width;
}

const std::string& NameOf(const proto::SnapshotTable& table) {
  return table.has_dense() ? table.dense().name() : table.table().name();
}

// Puts a row's floats into its table's slices.
void FillSlices(const proto::TableSpec& spec, const std::vector<float>& values, proto::RowReport* report) {
  size_t at = 0;
  for (const proto::Slice& slice : spec.slices()) {
    proto::RowReport::Slice* const filled = report->add_slices();
    filled->set_name(slice.name());
    for (uint32_t i = 0; i < slice.width() && at < values.size(); ++i) filled->add_values(values[at++]);
  }
}

}  // namespace

class ClusterClient::Impl {
 public:
  Impl(const std::string& address, absl::Duration timeout, std::shared_ptr<grpc::Channel> channel)
      : address_(address), timeout_(timeout), stub_(proto::Coordinator::NewStub(channel)) {}

  absl::StatusOr<proto::ClusterStatus> Status() {
    return Call<proto::ClusterStatus>(&proto::Coordinator::Stub::GetStatus, proto::GetStatusRequest());
  }
  absl::Status StopJob() {
    return Call<proto::StopJobReply>(&proto::Coordinator::Stub::StopJob, proto::StopJobRequest()).status();
  }

  absl::StatusOr<proto::TablesReport> Tables() {
    ROWAN_ASSIGN_OR_RETURN(const proto::ClusterStatus status, Status());
    proto::TablesReport report;
    std::map<uint32_t, proto::TableReport*> by_id;
    for (const proto::SnapshotTable& table : status.tables()) {
      proto::TableReport* const added = report.add_tables();
      added->set_id(table.id());
      added->set_name(NameOf(table));
      added->set_dense(table.has_dense());
      added->set_width(WidthOf(table));
      by_id[table.id()] = added;
    }
    for (const proto::ServerStatus& server : status.servers()) {
      const auto stats = Stats(server, proto::GetServerStatsRequest());
      if (!stats.ok()) {
        report.add_unreachable(std::string(stats.status().message()));
        continue;
      }
      for (const proto::TableStats& table : stats->tables()) {
        const auto found = by_id.find(table.id());
        if (found == by_id.end()) continue;  // Opened since.
        proto::TableReport* const sum = found->second;
        sum->set_rows(sum->rows() + table.rows());
        sum->set_block_bytes(sum->block_bytes() + table.block_bytes());
        sum->set_index_bytes(sum->index_bytes() + table.index_bytes());
      }
    }
    return report;
  }

  absl::StatusOr<proto::ShardsReport> Shards(bool digests) {
    ROWAN_ASSIGN_OR_RETURN(const proto::ClusterStatus status, Status());
    proto::GetServerStatsRequest request;
    request.set_shards(true);
    request.set_digests(digests);
    proto::ShardsReport report;
    for (int shard = 0; shard < status.map().server_of_shard_size(); ++shard) {
      proto::ShardReport* const added = report.add_shards();
      added->set_shard(shard);
      added->set_server(status.map().server_of_shard(shard));
    }
    Digest total;
    bool all = digests;
    for (const proto::ServerStatus& server : status.servers()) {
      const auto stats = Stats(server, request);
      if (!stats.ok()) {
        report.add_unreachable(std::string(stats.status().message()));
        all = false;
        continue;
      }
      const auto digest = Digest::Parse(stats->digest());
      all = all && digest.ok();
      if (digest.ok()) total.Add(*digest);
      for (const proto::ShardStats& shard : stats->shards()) {
        if (shard.shard() >= static_cast<uint32_t>(report.shards_size())) continue;
        FillShard(shard, report.mutable_shards(shard.shard()));
      }
    }
    if (all) report.set_digest(total.ToHex());
    return report;
  }

  absl::StatusOr<proto::RowReport> Row(const std::string& name, uint64_t key) {
    ROWAN_ASSIGN_OR_RETURN(const proto::ClusterStatus status, Status());
    const proto::SnapshotTable* table = nullptr;
    for (const proto::SnapshotTable& other : status.tables()) {
      if (other.has_table() && NameOf(other) == name) table = &other;
    }
    if (table == nullptr) return absl::NotFoundError(absl::StrCat("there is no table '", absl::CEscape(name), "'"));
    proto::RegisterClientRequest request;
    request.set_protocol(proto::PROTOCOL_CURRENT);
    request.set_host(HostName());
    request.set_process(RandomId());
    ROWAN_ASSIGN_OR_RETURN(const auto tool,
                           Call<proto::RegisterClientReply>(&proto::Coordinator::Stub::RegisterClient, request));
    if (!IsValidShardCount(tool.job().num_shards()) ||
        static_cast<int64_t>(tool.job().num_shards()) != tool.map().server_of_shard_size()) {
      return absl::InternalError("the coordinator's shard map does not fit its job");
    }
    proto::RowReport report;
    report.set_table(name);
    report.set_key(key);
    report.set_shard(Placement(tool.job().num_shards()).ShardOfKey(key));
    report.set_server(tool.map().server_of_shard(report.shard()));
    ROWAN_ASSIGN_OR_RETURN(const FoundRow row, LookUpRow(tool, report.server(), table->id(), key, timeout_));
    report.set_outcome(row.outcome);
    FillSlices(table->table(), row.values, &report);
    return report;
  }

 private:
  template <typename Reply, typename Method, typename Request>
  absl::StatusOr<Reply> Call(Method method, const Request& request) {
    grpc::ClientContext context;
    SetDeadline(&context, timeout_);
    Reply reply;
    const absl::Status status = FromGrpcStatus((stub_.get()->*method)(&context, request, &reply));
    if (status.ok()) return reply;
    return WithAddress(status, "the coordinator at ", address_);
  }

  static absl::Status WithAddress(const absl::Status& status, const std::string& what, const std::string& address) {
    if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return status;
    if (absl::StartsWith(status.message(), "waiting for ")) return status;
    return absl::UnavailableError(absl::StrCat(what, address, " does not answer: ", status.message()));
  }

  absl::StatusOr<proto::ServerStats> Stats(const proto::ServerStatus& server,
                                           const proto::GetServerStatsRequest& request) {
    const std::string what = absl::StrCat("server ", server.server(), " ('", absl::CEscape(server.name()), "') at ");
    if (server.address().tcp().empty()) {
      return absl::UnavailableError(absl::StrCat("server ", server.server(), " is missing"));
    }
    ROWAN_ASSIGN_OR_RETURN(const auto channel, MakeChannel(server.address().tcp()));
    grpc::ClientContext context;
    SetDeadline(&context, timeout_);
    proto::ServerStats stats;
    const absl::Status status =
        FromGrpcStatus(proto::ServerControl::NewStub(channel)->GetServerStats(&context, request, &stats));
    if (!status.ok()) return WithAddress(status, what, server.address().tcp());
    return stats;
  }

  static void FillShard(const proto::ShardStats& stats, proto::ShardReport* report) {
    for (const proto::TableStats& table : stats.tables()) {
      if (table.dense()) {
        report->set_blocks(report->blocks() + table.rows());
      } else {
        report->set_rows(report->rows() + table.rows());
      }
      report->set_bytes(report->bytes() + table.block_bytes() + table.index_bytes());
    }
    report->set_digest(stats.digest());
  }

  const std::string address_;
  const absl::Duration timeout_;
  const std::unique_ptr<proto::Coordinator::Stub> stub_;
};

ClusterClient::ClusterClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClusterClient::~ClusterClient() = default;

absl::StatusOr<std::unique_ptr<ClusterClient>> ClusterClient::Create(const std::string& coordinator,
                                                                     absl::Duration timeout) {
  ROWAN_ASSIGN_OR_RETURN(const auto channel, MakeChannel(coordinator));
  return absl::WrapUnique(new ClusterClient(std::make_unique<Impl>(coordinator, timeout, channel)));
}

absl::StatusOr<proto::ClusterStatus> ClusterClient::Status() { return impl_->Status(); }
absl::StatusOr<proto::TablesReport> ClusterClient::Tables() { return impl_->Tables(); }
absl::StatusOr<proto::ShardsReport> ClusterClient::Shards(bool digests) { return impl_->Shards(digests); }
absl::StatusOr<proto::RowReport> ClusterClient::Row(const std::string& table, uint64_t key) {
  return impl_->Row(table, key);
}
absl::Status ClusterClient::StopJob() { return impl_->StopJob(); }

}  // namespace rowan
