#include "server/service/coordinator_link.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/channel.h"
#include "common/coordinator_call.h"
#include "common/mutex.h"
#include "common/status_macros.h"
#include "common/ticker.h"
#include "glog/logging.h"
#include "proto/coordinator.grpc.pb.h"

namespace rowan {
namespace {

constexpr absl::Duration kRegisterDeadline = absl::Seconds(10);
constexpr absl::Duration kHeartbeatDeadline = absl::Seconds(3);
constexpr absl::Duration kLeaveDeadline = absl::Seconds(1);

}  // namespace

class CoordinatorLink::Impl {
 public:
  Impl(const Options& options, std::shared_ptr<grpc::Channel> channel)
      : options_(options), stub_(proto::Coordinator::NewStub(channel)) {}
  ~Impl() { Leave(); }

  absl::Status Register() {
    proto::RegisterServerRequest request;
    request.set_protocol(proto::PROTOCOL_CURRENT);
    *request.mutable_address() = options_.address;
    request.set_name(options_.name);
    request.set_process(options_.process);
    return AskPatiently(options_.patience, [&] {
      grpc::ClientContext context;
      SetDeadline(&context, kRegisterDeadline);
      return CoordinatorStatus(options_.coordinator, stub_->RegisterServer(&context, request, &registration_));
    });
  }

  void Start(Callbacks callbacks) {
    callbacks_ = std::move(callbacks);
    answered_ = absl::Now();
    ticker_ = std::make_unique<Ticker>(HeartbeatEvery(registration_.lease_ms()), [this] { Beat(); });
  }

  void Leave() {
    if (ticker_ == nullptr) return;
    ticker_ = nullptr;
    proto::ServerHeartbeatReply reply;
    Send(/*leaving=*/true, kLeaveDeadline, &reply).IgnoreError();
  }

  absl::optional<absl::Status> ended() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return ended_;
  }

  const proto::RegisterServerReply& registration() const { return registration_; }

 private:
  absl::Status Send(bool leaving, absl::Duration deadline, proto::ServerHeartbeatReply* reply) {
    proto::ServerHeartbeatRequest request;
    request.set_server(registration_.server());
    request.set_incarnation(registration_.incarnation());
    request.set_applied_steps(callbacks_.applied_steps());
    request.set_leaving(leaving);
    grpc::ClientContext context;
    SetDeadline(&context, deadline);
    return CoordinatorStatus(options_.coordinator, stub_->ServerHeartbeat(&context, request, reply));
  }

  void End(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (!ended_.has_value()) ended_ = status;
  }

  void Beat() {
    proto::ServerHeartbeatReply reply;
    const absl::Status status = Send(/*leaving=*/false, kHeartbeatDeadline, &reply);
    const absl::Time now = absl::Now();
    if (absl::IsUnavailable(status)) {
      const absl::Duration silent = now - answered_;
      if (now - told_ >= options_.patience.tell_every) {
        told_ = now;
        LOG(WARNING) << status.message() << ", for " << absl::Trunc(silent, absl::Seconds(1)) << " now";
      }
      if (silent > options_.patience.limit) {
        End(absl::UnavailableError(
            absl::StrCat("gave up after ", absl::FormatDuration(options_.patience.limit), ": ", status.message())));
      }
      return;
    }
    if (!status.ok()) return End(status);
    answered_ = now;
    if (!reply.failure().empty() && !std::exchange(failed_, true)) callbacks_.on_failure(reply.failure());
    if (reply.stop()) End(absl::OkStatus());
  }

  const Options options_;
  const std::unique_ptr<proto::Coordinator::Stub> stub_;
  proto::RegisterServerReply registration_;  // does not change after Register
  Callbacks callbacks_;                      // nor this after Start
  // Touched by the ticker's thread alone.
  absl::Time answered_;
  absl::Time told_ = absl::InfinitePast();
  bool failed_ = false;
  mutable Mutex mu_;
  absl::optional<absl::Status> ended_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Ticker> ticker_;
};

CoordinatorLink::CoordinatorLink(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CoordinatorLink::~CoordinatorLink() = default;

absl::StatusOr<std::unique_ptr<CoordinatorLink>> CoordinatorLink::Register(const Options& options) {
  ROWAN_ASSIGN_OR_RETURN(const auto channel, MakeChannel(options.coordinator));
  auto impl = std::make_unique<Impl>(options, channel);
  ROWAN_RETURN_IF_ERROR(impl->Register());
  return absl::WrapUnique(new CoordinatorLink(std::move(impl)));
}

const proto::RegisterServerReply& CoordinatorLink::registration() const { return impl_->registration(); }
void CoordinatorLink::Start(Callbacks callbacks) { impl_->Start(std::move(callbacks)); }
absl::optional<absl::Status> CoordinatorLink::ended() const { return impl_->ended(); }
void CoordinatorLink::Leave() { impl_->Leave(); }

}  // namespace rowan
