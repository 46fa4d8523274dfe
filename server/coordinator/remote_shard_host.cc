#include "server/coordinator/remote_shard_host.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/channel.h"
#include "common/grpc_status.h"
#include "common/status_macros.h"
#include "grpcpp/client_context.h"
#include "proto/coordinator.grpc.pb.h"

namespace rowan {
namespace {

// Large dense parameters take a server a while to initialize.
constexpr absl::Duration kAddDeadline = absl::Seconds(30);

}  // namespace

struct RemoteShardHost::Impl {
  std::string address;
  std::unique_ptr<proto::ServerControl::Stub> stub;

  absl::Status Add(const proto::SnapshotTable& table) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kAddDeadline));
    context.set_wait_for_ready(true);
    proto::AddTableReply reply;
    return FromGrpcStatus(stub->AddTable(&context, table, &reply));
  }
};

RemoteShardHost::RemoteShardHost(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RemoteShardHost::~RemoteShardHost() = default;

absl::StatusOr<std::unique_ptr<RemoteShardHost>> RemoteShardHost::Create(const std::string& address) {
  ROWAN_ASSIGN_OR_RETURN(const auto channel, MakeChannel(address));
  auto impl = std::make_unique<Impl>();
  impl->address = address;
  impl->stub = proto::ServerControl::NewStub(channel);
  return absl::WrapUnique(new RemoteShardHost(std::move(impl)));
}

absl::Status RemoteShardHost::CheckIsProcess(uint64_t process, absl::Duration limit) {
  const absl::Time deadline = absl::Now() + limit;
  proto::IdentifyReply reply;
  grpc::Status status;
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(deadline));
    status = impl_->stub->Identify(&context, proto::IdentifyRequest(), &reply);
    const absl::Duration left = deadline - absl::Now();
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE || left <= absl::ZeroDuration()) break;
    absl::SleepFor(std::min(left, absl::Milliseconds(200)));
  }
  if (!status.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the advertised address ", impl_->address,
                     " cannot be reached from the coordinator: ", status.error_message()));
  }
  if (reply.process() != process) {
    return absl::FailedPreconditionError(
        absl::StrCat("the advertised address ", impl_->address, " leads the coordinator to another server"));
  }
  return absl::OkStatus();
}

absl::Status RemoteShardHost::AddTable(uint32_t id, const proto::TableSpec& spec) {
  proto::SnapshotTable table;
  table.set_id(id);
  *table.mutable_table() = spec;
  return impl_->Add(table);
}

absl::Status RemoteShardHost::AddDense(uint32_t id, const proto::DenseSpec& spec) {
  proto::SnapshotTable table;
  table.set_id(id);
  *table.mutable_dense() = spec;
  return impl_->Add(table);
}

}  // namespace rowan
