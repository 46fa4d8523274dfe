#include "server/service/server_node.h"

#include <atomic>
#include <chrono>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/channel.h"
#include "common/host_id.h"
#include "common/random_id.h"
#include "common/status_macros.h"
#include "glog/logging.h"
#include "server/service/coordinator_link.h"
#include "server/service/data_plane_service.h"
#include "server/service/engine_sizes.h"
#include "server/service/late_data_plane.h"
#include "server/service/server_control_service.h"

namespace rowan {
namespace {

// How long calls in progress may take once the server stops.
constexpr std::chrono::seconds kGrace(2);

}  // namespace

class ServerNode::Impl {
 public:
  explicit Impl(const Options& options)
      : options_(options), process_(RandomId()), control_(process_), data_(&plane_, Sizes()) {}
  ~Impl() { Stop(); }

  absl::Status Listen() {
    ServerOptions server;
    server.listen = options_.listen;
    if (!options_.unix_socket.empty()) server.also_listen = absl::StrCat("unix:", options_.unix_socket);
    server.max_message_bytes = data_.max_message_bytes();
    ROWAN_ASSIGN_OR_RETURN(started_, StartServer(server, [&](grpc::ServerBuilder& builder) {
                             builder.RegisterService(control_.service());
                             builder.RegisterCallbackGenericService(&data_);
                           }));
    return absl::OkStatus();
  }

  absl::Status Join(const std::string& advertise) {
    CoordinatorLink::Options link;
    link.coordinator = options_.coordinator;
    link.address.set_tcp(advertise);
    link.address.set_unix(options_.unix_socket);
    link.address.set_host(HostId());
    link.name = options_.name;
    link.process = process_;
    link.patience = options_.patience;
    ROWAN_ASSIGN_OR_RETURN(link_, CoordinatorLink::Register(link));
    const proto::RegisterServerReply& registration = link_->registration();
    ROWAN_ASSIGN_OR_RETURN(core_, ServerCore::Create(registration, options_.threads));
    control_.Serve({registration.server(), core_->host(), core_->engine(), core_->server()});
    engine_.store(core_->engine(), std::memory_order_release);
    plane_.Set(core_->server());
    link_->Start({[this] { return core_->server()->applied(); },
                  [this](const std::string& why) {
                    LOG(ERROR) << "the job has failed: " << why;
                    core_->server()->Stop(absl::CancelledError(why));
                  }});
    LOG(INFO) << "server " << registration.server() << " of " << registration.map().servers_size() << ", incarnation "
              << registration.incarnation() << ", serves";
    return absl::OkStatus();
  }

  void Stop() {
    if (link_ != nullptr) link_->Leave();
    if (core_ != nullptr) core_->server()->Stop(absl::CancelledError("the server is shutting down"));
    data_.Shutdown();
    if (started_.server == nullptr) return;
    started_.server->Shutdown(std::chrono::system_clock::now() + kGrace);
    started_.server->Wait();
    started_.server.reset();
  }

  const std::string& address() const { return started_.address; }
  absl::optional<absl::Status> ended() const { return link_->ended(); }
  uint32_t number() const { return link_->registration().server(); }
  ServerCore* core() { return core_.get(); }

 private:
  // Of tables that exist by the time somebody asks: nobody gets that far before there is an engine.
  DataPlaneSizes Sizes() {
    return {[this](uint32_t table) -> absl::StatusOr<int64_t> {
              ROWAN_ASSIGN_OR_RETURN(const ShardEngine* const engine, Engine());
              return EngineSizes(engine).table_width(table);
            },
            [this](uint32_t dense) -> absl::StatusOr<int64_t> {
              ROWAN_ASSIGN_OR_RETURN(const ShardEngine* const engine, Engine());
              return EngineSizes(engine).dense_size(dense);
            }};
  }
  absl::StatusOr<const ShardEngine*> Engine() const {
    if (const ShardEngine* const engine = engine_.load(std::memory_order_acquire)) return engine;
    return absl::UnavailableError("waiting for the coordinator to take this server in");
  }

  const Options options_;
  const uint64_t process_;
  std::atomic<const ShardEngine*> engine_{nullptr};
  // Destroyed in the reverse order: the gRPC server, its services, the link, and last what they work on.
  std::unique_ptr<ServerCore> core_;
  std::unique_ptr<CoordinatorLink> link_;
  LateDataPlane plane_;
  ServerControlService control_;
  DataPlaneService data_;
  StartedServer started_;
};

ServerNode::ServerNode(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServerNode::~ServerNode() = default;

absl::StatusOr<std::unique_ptr<ServerNode>> ServerNode::Start(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  ROWAN_RETURN_IF_ERROR(impl->Listen());
  return absl::WrapUnique(new ServerNode(std::move(impl)));
}

const std::string& ServerNode::address() const { return impl_->address(); }
absl::Status ServerNode::Join(const std::string& advertise) { return impl_->Join(advertise); }
absl::optional<absl::Status> ServerNode::ended() const { return impl_->ended(); }
uint32_t ServerNode::number() const { return impl_->number(); }
ServerCore* ServerNode::core() { return impl_->core(); }
void ServerNode::Stop() { impl_->Stop(); }

}  // namespace rowan
