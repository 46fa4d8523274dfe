#include "worker/client/remote_control_plane.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/channel.h"
#include "common/coordinator_call.h"
#include "common/host_id.h"
#include "common/mutex.h"
#include "common/random_id.h"
#include "common/status_macros.h"
#include "common/ticker.h"
#include "glog/logging.h"
#include "proto/coordinator.grpc.pb.h"

namespace rowan {
namespace {

constexpr absl::Duration kRegisterDeadline = absl::Seconds(10);
constexpr absl::Duration kHeartbeatDeadline = absl::Seconds(3);
// Longer than the coordinator waits for another opening, and for a server.
constexpr absl::Duration kOpenDeadline = absl::Seconds(120);

ShardMap FromProto(const proto::ShardMap& map) {
  ShardMap result;
  result.version = map.version();
  for (const proto::ServerAddress& server : map.servers()) {
    result.servers.push_back({server.tcp(), server.unix(), server.host()});
  }
  result.server_of_shard.assign(map.server_of_shard().begin(), map.server_of_shard().end());
  return result;
}

absl::Status CheckMap(const proto::RegisterClientReply& reply) {
  bool fits = reply.map().server_of_shard_size() == static_cast<int64_t>(reply.job().num_shards());
  for (const uint32_t server : reply.map().server_of_shard()) {
    fits = fits && server < static_cast<uint32_t>(reply.map().servers_size());
  }
  if (fits) return absl::OkStatus();
  return absl::InternalError("the coordinator sent a shard map that does not fit its job");
}

}  // namespace

class RemoteControlPlane::Impl {
 public:
  Impl(const Options& options, std::shared_ptr<grpc::Channel> channel)
      : options_(options), stub_(proto::Coordinator::NewStub(channel)) {}

  ~Impl() {
    ticker_ = nullptr;
    if (is_worker() && !reported_) ReportEnd(/*finished=*/false, "ended without a report").IgnoreError();
  }

  absl::StatusOr<Registration> Register(bool takes_part) ABSL_LOCKS_EXCLUDED(mu_) {
    if (takes_part && worker_asked_.exchange(true)) {
      return absl::FailedPreconditionError("this process has registered a worker already");
    }
    proto::RegisterClientRequest request;
    request.set_protocol(proto::PROTOCOL_CURRENT);
    request.set_takes_part(takes_part);
    request.set_host(HostName());
    request.set_process(RandomId());
    proto::RegisterClientReply reply;
    const absl::Status status = AskPatiently(options_.patience, [&] {
      grpc::ClientContext context;
      SetDeadline(&context, kRegisterDeadline);
      return CoordinatorStatus(options_.coordinator, stub_->RegisterClient(&context, request, &reply));
    });
    if (takes_part && !status.ok()) worker_asked_ = false;
    ROWAN_RETURN_IF_ERROR(status);
    ROWAN_RETURN_IF_ERROR(CheckMap(reply));
    if (takes_part) {
      MutexLock lock(&mu_);
      rank_ = reply.rank();
      incarnation_ = reply.incarnation();
      answered_ = absl::Now();
      ticker_ = std::make_unique<Ticker>(HeartbeatEvery(reply.lease_ms()), [this] { Beat(); });
    }
    return Registration{reply.rank(), reply.incarnation(), reply.generation(), FromProto(reply.map()), reply.job()};
  }

  // Call is a member of the stub.
  template <typename Request, typename Reply, typename Call>
  absl::Status Open(Call call, const Request& request, Reply* reply) {
    return AskPatiently(options_.patience, [&] {
      grpc::ClientContext context;
      SetDeadline(&context, kOpenDeadline);
      return CoordinatorStatus(options_.coordinator, (stub_.get()->*call)(&context, request, reply));
    });
  }
  absl::StatusOr<OpenedTable> OpenTable(const proto::TableSpec& spec) {
    proto::OpenTableRequest request;
    *request.mutable_spec() = spec;
    proto::OpenTableReply reply;
    ROWAN_RETURN_IF_ERROR(Open(&proto::Coordinator::Stub::OpenTable, request, &reply));
    return OpenedTable{reply.id(), reply.spec()};
  }
  absl::StatusOr<OpenedDense> OpenDense(const proto::DenseSpec& spec) {
    proto::OpenDenseRequest request;
    *request.mutable_spec() = spec;
    proto::OpenDenseReply reply;
    ROWAN_RETURN_IF_ERROR(Open(&proto::Coordinator::Stub::OpenDense, request, &reply));
    return OpenedDense{reply.id(), reply.spec()};
  }

  void ReportProgress(const proto::JobPosition& position) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    position_ = position;
  }

  absl::Status ReportEnd(bool finished, const std::string& failure) ABSL_LOCKS_EXCLUDED(mu_) {
    if (!is_worker()) return absl::FailedPreconditionError("no worker was registered");
    if (reported_.exchange(true)) return absl::OkStatus();
    ticker_ = nullptr;
    // A coordinator that is gone must not keep a worker that has failed anyway.
    Patience patience = options_.patience;
    if (!finished) patience.limit = std::min(patience.limit, absl::Seconds(2));
    return AskPatiently(patience, [&] {
      proto::ClientHeartbeatReply reply;
      return Send(finished, failure, &reply);
    });
  }

  absl::Status failure() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return failure_;
  }

 private:
  bool is_worker() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return incarnation_ > 0;
  }

  absl::Status Send(bool finished, const std::string& failure, proto::ClientHeartbeatReply* reply)
      ABSL_LOCKS_EXCLUDED(mu_) {
    proto::ClientHeartbeatRequest request;
    {
      MutexLock lock(&mu_);
      request.set_rank(rank_);
      request.set_incarnation(incarnation_);
      *request.mutable_position() = position_;
    }
    request.set_finished(finished);
    request.set_failure(failure);
    grpc::ClientContext context;
    SetDeadline(&context, kHeartbeatDeadline);
    return CoordinatorStatus(options_.coordinator, stub_->ClientHeartbeat(&context, request, reply));
  }

  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(&mu_);
      if (!failure_.ok()) return;
      failure_ = status;
    }
    if (options_.on_failure) options_.on_failure(status);
  }

  void Beat() ABSL_LOCKS_EXCLUDED(mu_) {
    proto::ClientHeartbeatReply reply;
    const absl::Status status = Send(/*finished=*/false, /*failure=*/"", &reply);
    const absl::Time now = absl::Now();
    std::string waiting = reply.waiting();
    if (absl::IsUnavailable(status)) {
      MutexLock lock(&mu_);
      waiting = absl::StrCat(status.message(), ", for ",
                             absl::FormatDuration(absl::Trunc(now - answered_, absl::Seconds(1))), " now");
    } else if (!status.ok()) {
      return Fail(status);
    }
    if (!waiting.empty() && now - told_ >= options_.patience.tell_every) {
      told_ = now;
      LOG(WARNING) << waiting;
    }
    absl::Duration silent;
    {
      MutexLock lock(&mu_);
      if (status.ok()) answered_ = now;
      silent = now - answered_;
    }
    if (!reply.failure().empty()) return Fail(absl::CancelledError(reply.failure()));
    if (silent > options_.patience.limit) {
      Fail(absl::UnavailableError(
          absl::StrCat("gave up after ", absl::FormatDuration(options_.patience.limit), ": ", status.message())));
    }
  }

  const Options options_;
  const std::unique_ptr<proto::Coordinator::Stub> stub_;
  std::atomic<bool> worker_asked_{false};
  std::atomic<bool> reported_{false};
  absl::Time told_ = absl::Now();  // touched by the ticker's thread alone
  mutable Mutex mu_;
  uint32_t rank_ ABSL_GUARDED_BY(mu_) = 0;
  uint32_t incarnation_ ABSL_GUARDED_BY(mu_) = 0;  // 0: no worker
  proto::JobPosition position_ ABSL_GUARDED_BY(mu_);
  absl::Time answered_ ABSL_GUARDED_BY(mu_);
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Ticker> ticker_;  // made by the one registration of a worker, ended by its report
};

RemoteControlPlane::RemoteControlPlane(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RemoteControlPlane::~RemoteControlPlane() = default;

absl::StatusOr<std::unique_ptr<RemoteControlPlane>> RemoteControlPlane::Create(const Options& options) {
  ROWAN_ASSIGN_OR_RETURN(const auto channel, MakeChannel(options.coordinator));
  return absl::WrapUnique(new RemoteControlPlane(std::make_unique<Impl>(options, channel)));
}

absl::StatusOr<Registration> RemoteControlPlane::RegisterWorker() { return impl_->Register(/*takes_part=*/true); }
absl::StatusOr<Registration> RemoteControlPlane::RegisterTool() { return impl_->Register(/*takes_part=*/false); }
absl::StatusOr<OpenedTable> RemoteControlPlane::OpenTable(const proto::TableSpec& spec) {
  return impl_->OpenTable(spec);
}
absl::StatusOr<OpenedDense> RemoteControlPlane::OpenDense(const proto::DenseSpec& spec) {
  return impl_->OpenDense(spec);
}
void RemoteControlPlane::ReportProgress(const proto::JobPosition& position) { impl_->ReportProgress(position); }
absl::Status RemoteControlPlane::ReportFinished() { return impl_->ReportEnd(/*finished=*/true, ""); }
absl::Status RemoteControlPlane::ReportFailure(const absl::Status& why) {
  return impl_->ReportEnd(/*finished=*/false, why.ToString());
}
absl::Status RemoteControlPlane::failure() const { return impl_->failure(); }

}  // namespace rowan
