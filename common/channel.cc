#include "common/channel.h"

#include <sys/socket.h>

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/address.h"
#include "common/status_macros.h"
#include "glog/logging.h"
#include "grpc/support/log.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/support/channel_arguments.h"

namespace rowan {
namespace {

// What both ends of a connection are set to. Measured on large messages over loopback: with reads of 64 KiB or 4 MiB,
// or with bandwidth probing on, less went through.
struct Argument {
  const char* name;
  int value;
};
constexpr Argument kCommonArguments[] = {
    {GRPC_ARG_HTTP2_MAX_FRAME_SIZE, 4 << 20},
    {GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 8 << 20},
    {GRPC_ARG_HTTP2_BDP_PROBE, 0},
    {GRPC_ARG_TCP_READ_CHUNK_SIZE, 256 << 10},
    {GRPC_ARG_TCP_MIN_READ_CHUNK_SIZE, 256 << 10},
    {GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, 256 << 10},
    {GRPC_ARG_KEEPALIVE_TIME_MS, 20000},
    {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10000},
    {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
    {GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0},
};
// Waits between two attempts are drawn from 80 % to 120 % of these. The smallest one is also what an attempt may take.
constexpr Argument kChannelArguments[] = {
    {GRPC_ARG_ENABLE_HTTP_PROXY, 0},
    {GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1},
    {GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100},
    {GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000},
    {GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000},
};
constexpr Argument kServerArguments[] = {
    {GRPC_ARG_ALLOW_REUSEPORT, 0},
    {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000},
    {GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0},
};

void LogMessage(gpr_log_func_args* args) { VLOG(1) << args->file << ":" << args->line << ": " << args->message; }

void RouteMessages() {
  static const bool once = (gpr_set_log_function(LogMessage), true);
  (void)once;
}

absl::StatusOr<int> MessageLimit(int64_t bytes) {
  if (bytes < 1 || bytes > std::numeric_limits<int>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a message limit of ", bytes, " bytes: must be from 1 to 2147483647"));
  }
  return static_cast<int>(bytes);
}

// What gRPC calls `address`.
std::string Target(const Address& address) {
  if (address.is_unix()) return address.ToString();
  const bool v6 = address.host.find(':') != std::string::npos;
  // Brackets are no legal characters of a URI's path.
  return absl::StrCat("dns:///", v6 ? "%5B" : "", address.host, v6 ? "%5D" : "", ":", address.port);
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ClientCredentials(const TlsFiles& files) {
  if (!files.enabled()) return grpc::InsecureChannelCredentials();
  ROWAN_ASSIGN_OR_RETURN(const TlsPems pems, ReadClientTls(files));
  return grpc::SslCredentials({pems.ca, pems.key, pems.certificate});
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerSideCredentials(const TlsFiles& files) {
  if (!files.enabled()) return grpc::InsecureServerCredentials();
  ROWAN_ASSIGN_OR_RETURN(const TlsPems pems, ReadServerTls(files));
  grpc::SslServerCredentialsOptions options(pems.ca.empty()
                                                ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                                : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = pems.ca;
  options.pem_key_cert_pairs.push_back({pems.key, pems.certificate});
  return grpc::SslServerCredentials(options);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const std::string& address, const ChannelOptions& options) {
  RouteMessages();
  ROWAN_ASSIGN_OR_RETURN(const Address parsed, ParseAddress(address));
  ROWAN_ASSIGN_OR_RETURN(const int limit, MessageLimit(options.max_message_bytes));
  ROWAN_ASSIGN_OR_RETURN(const auto credentials, ClientCredentials(options.tls));
  grpc::ChannelArguments arguments;
  for (const Argument& argument : kCommonArguments) arguments.SetInt(argument.name, argument.value);
  for (const Argument& argument : kChannelArguments) arguments.SetInt(argument.name, argument.value);
  arguments.SetMaxReceiveMessageSize(limit);
  arguments.SetMaxSendMessageSize(limit);
  if (!options.tls_name.empty()) arguments.SetSslTargetNameOverride(options.tls_name);
  return grpc::CreateCustomChannel(Target(parsed), credentials, arguments);
}

absl::StatusOr<StartedServer> StartServer(const ServerOptions& options,
                                          absl::FunctionRef<void(grpc::ServerBuilder&)> add_services) {
  RouteMessages();
  ROWAN_ASSIGN_OR_RETURN(Address address, ParseAddress(options.listen));
  ROWAN_ASSIGN_OR_RETURN(const int limit, MessageLimit(options.max_message_bytes));
  ROWAN_ASSIGN_OR_RETURN(const auto credentials, ServerSideCredentials(options.tls));
  // gRPC takes over a Unix socket that is in use, and does not say why it cannot bind.
  ROWAN_RETURN_IF_ERROR(CheckCanListen(address));
  Address also;
  if (!options.also_listen.empty()) {
    ROWAN_ASSIGN_OR_RETURN(also, ParseAddress(options.also_listen));
    ROWAN_RETURN_IF_ERROR(CheckCanListen(also));
  }
  grpc::ServerBuilder builder;
  for (const Argument& argument : kCommonArguments) builder.AddChannelArgument(argument.name, argument.value);
  for (const Argument& argument : kServerArguments) builder.AddChannelArgument(argument.name, argument.value);
  builder.SetMaxReceiveMessageSize(limit);
  builder.SetMaxSendMessageSize(limit);
  int port = 0;
  builder.AddListeningPort(address.ToString(), credentials, &port);
  int also_port = 1;
  if (!options.also_listen.empty()) builder.AddListeningPort(also.ToString(), credentials, &also_port);
  add_services(builder);
  StartedServer started;
  started.server = builder.BuildAndStart();
  if (started.server == nullptr || port <= 0 || also_port <= 0) {
    // Somebody else may have come first.
    if (started.server != nullptr) started.server->Shutdown();
    started.server.reset();
    ROWAN_RETURN_IF_ERROR(CheckCanListen(address));
    if (!options.also_listen.empty()) ROWAN_RETURN_IF_ERROR(CheckCanListen(also));
    return absl::UnavailableError(absl::StrCat("cannot listen on ", address.ToString()));
  }
  if (!address.is_unix()) address.port = static_cast<uint16_t>(port);
  started.address = address.ToString();
  return started;
}

}  // namespace rowan
