#include "server/coordinator/coordinator_service.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/grpc_status.h"
#include "common/mutex.h"
#include "common/status_macros.h"
#include "glog/logging.h"
#include "proto/coordinator.grpc.pb.h"
#include "server/coordinator/remote_shard_host.h"

namespace rowan {
namespace {

constexpr absl::Duration kConnectBack = absl::Seconds(3);
// How long an opening of a table waits for another one of the same table, at most.
constexpr absl::Duration kOpenDeadline = absl::Seconds(60);

// Puts a result into gRPC's two parts.
template <typename Reply>
grpc::Status Answer(absl::StatusOr<Reply> result, Reply* reply) {
  if (result.ok()) *reply = *std::move(result);
  return ToGrpcStatus(result.status());
}

}  // namespace

class CoordinatorService::Impl final : public proto::Coordinator::Service {
 public:
  Impl(const Cluster::Options& options, Clock* clock) : cluster_(options, clock) {}

  grpc::Status RegisterServer(grpc::ServerContext*, const proto::RegisterServerRequest* request,
                              proto::RegisterServerReply* reply) override {
    return Answer(Register(*request), reply);
  }
  grpc::Status ServerHeartbeat(grpc::ServerContext*, const proto::ServerHeartbeatRequest* request,
                               proto::ServerHeartbeatReply* reply) override {
    MutexLock lock(&mu_);
    return Answer(cluster_.ServerHeartbeat(*request), reply);
  }
  grpc::Status RegisterClient(grpc::ServerContext*, const proto::RegisterClientRequest* request,
                              proto::RegisterClientReply* reply) override {
    MutexLock lock(&mu_);
    auto registered = cluster_.RegisterClient(*request);
    if (registered.ok() && request->takes_part()) {
      LOG(INFO) << "rank " << registered->rank() << " is on " << absl::CEscape(request->host());
    }
    return Answer(std::move(registered), reply);
  }
  grpc::Status ClientHeartbeat(grpc::ServerContext*, const proto::ClientHeartbeatRequest* request,
                               proto::ClientHeartbeatReply* reply) override {
    MutexLock lock(&mu_);
    return Answer(cluster_.ClientHeartbeat(*request), reply);
  }
  grpc::Status OpenTable(grpc::ServerContext* context, const proto::OpenTableRequest* request,
                         proto::OpenTableReply* reply) override {
    auto table = Open(*context, request->spec());
    if (!table.ok()) return ToGrpcStatus(table.status());
    reply->set_id(table->id());
    *reply->mutable_spec() = std::move(*table->mutable_table());
    return grpc::Status::OK;
  }
  grpc::Status OpenDense(grpc::ServerContext* context, const proto::OpenDenseRequest* request,
                         proto::OpenDenseReply* reply) override {
    auto table = Open(*context, request->spec());
    if (!table.ok()) return ToGrpcStatus(table.status());
    reply->set_id(table->id());
    *reply->mutable_spec() = std::move(*table->mutable_dense());
    return grpc::Status::OK;
  }
  grpc::Status GetStatus(grpc::ServerContext*, const proto::GetStatusRequest*, proto::ClusterStatus* reply) override {
    *reply = Status();
    return grpc::Status::OK;
  }
  grpc::Status StopJob(grpc::ServerContext*, const proto::StopJobRequest*, proto::StopJobReply*) override {
    StopJob();
    return grpc::Status::OK;
  }

  void Tick() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    cluster_.Tick();
  }
  proto::ClusterStatus Status() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return cluster_.Status();
  }
  std::string State() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return cluster_.StateText();
  }
  void StopJob() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    cluster_.Stop();
  }
  bool stopped() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return cluster_.stopped();
  }
  bool MayExit() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return cluster_.MayExit();
  }
  void Shutdown() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    shut_down_ = true;
    opened_.SignalAll();
  }

 private:
  using Hosts = std::map<uint32_t, std::shared_ptr<RemoteShardHost>>;

  absl::StatusOr<proto::RegisterServerReply> Register(const proto::RegisterServerRequest& request)
      ABSL_LOCKS_EXCLUDED(mu_) {
    ROWAN_ASSIGN_OR_RETURN(std::shared_ptr<RemoteShardHost> host, RemoteShardHost::Create(request.address().tcp()));
    ROWAN_RETURN_IF_ERROR(host->CheckIsProcess(request.process(), kConnectBack));
    MutexLock lock(&mu_);
    ROWAN_ASSIGN_OR_RETURN(proto::RegisterServerReply reply, cluster_.RegisterServer(request));
    hosts_[reply.server()] = std::move(host);
    LOG(INFO) << cluster_.servers().Describe(reply.server()) << " is here, incarnation " << reply.incarnation();
    return reply;
  }

  // The table's id and spec once all servers know it.
  template <typename Spec>
  absl::StatusOr<proto::SnapshotTable> Open(const grpc::ServerContext& context, const Spec& spec)
      ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::Time deadline = std::min(absl::FromChrono(context.deadline()), absl::Now() + kOpenDeadline);
    Catalogue::Opening opening;
    Hosts hosts;
    {
      MutexLock lock(&mu_);
      while (true) {
        if (shut_down_) return absl::UnavailableError("the coordinator is shutting down");
        ROWAN_RETURN_IF_ERROR(cluster_.CheckOpen());
        ROWAN_ASSIGN_OR_RETURN(opening, cluster_.catalogue()->Begin(spec));
        if (opening.state != Catalogue::State::kBusy) break;
        if (absl::Now() >= deadline) {
          return absl::UnavailableError(
              absl::StrCat("waiting for '", absl::CEscape(spec.name()), "', which another one is opening"));
        }
        opened_.WaitWithTimeout(&mu_, std::min(absl::Seconds(1), deadline - absl::Now()));
      }
      hosts = hosts_;
    }
    if (opening.state == Catalogue::State::kOpen) return std::move(opening.table);
    auto told = Catalogue::Told::kNone;
    const absl::Status status = Tell(hosts, opening.table, spec.name(), &told);
    MutexLock lock(&mu_);
    cluster_.catalogue()->End(opening.table.id(), told);
    opened_.SignalAll();
    ROWAN_RETURN_IF_ERROR(status);
    return std::move(opening.table);
  }

  absl::Status Tell(const Hosts& hosts, const proto::SnapshotTable& table, const std::string& name,
                    Catalogue::Told* told) ABSL_LOCKS_EXCLUDED(mu_) {
    for (const auto& [server, host] : hosts) {
      const absl::Status status = TellHost(host.get(), table);
      if (!SurelyRefused(status)) *told = Catalogue::Told::kSome;
      if (status.ok()) continue;
      MutexLock lock(&mu_);
      const std::string whom = cluster_.servers().Describe(server);
      if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
        return absl::UnavailableError(
            absl::StrCat("waiting for ", whom, " to open '", absl::CEscape(name), "' (", status.message(), ")"));
      }
      return absl::Status(status.code(),
                          absl::StrCat("opening '", absl::CEscape(name), "' on ", whom, ": ", status.message()));
    }
    *told = Catalogue::Told::kAll;
    return absl::OkStatus();
  }

  Mutex mu_;
  CondVar opened_;  // an opening has ended, or shut_down_
  Cluster cluster_ ABSL_GUARDED_BY(mu_);
  Hosts hosts_ ABSL_GUARDED_BY(mu_);
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;
};

CoordinatorService::CoordinatorService(const Cluster::Options& options, Clock* clock)
    : impl_(std::make_unique<Impl>(options, clock)) {}
CoordinatorService::~CoordinatorService() = default;

grpc::Service* CoordinatorService::service() { return impl_.get(); }
void CoordinatorService::Tick() { impl_->Tick(); }
proto::ClusterStatus CoordinatorService::Status() { return impl_->Status(); }
std::string CoordinatorService::State() { return impl_->State(); }
void CoordinatorService::StopJob() { impl_->StopJob(); }
bool CoordinatorService::stopped() { return impl_->stopped(); }
bool CoordinatorService::MayExit() { return impl_->MayExit(); }
void CoordinatorService::Shutdown() { impl_->Shutdown(); }

}  // namespace rowan
