// The one function that makes every gRPC channel, and the one that starts every gRPC server.
//
// Both sides get: TLS by PEM files; one configured limit of a message's size instead of gRPC's 4 MB; connections tuned
// for messages of megabytes (HTTP/2 frames of 4 MiB, 8 MiB of lookahead, no bandwidth probing, reads of 256 KiB);
// keepalive that notices a dead peer within 30 s. A channel tries again at most 3 s after a failure and never goes
// through http_proxy; a server never shares its port with another one. gRPC's own messages are VLOG(1).
//
// Addresses are host:port, [IPv6]:port or unix:PATH. Thread-safe.
#ifndef ROWAN_COMMON_CHANNEL_H_
#define ROWAN_COMMON_CHANNEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/tls.h"
#include "grpcpp/channel.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

namespace rowan {

inline constexpr int64_t kDefaultMaxMessageBytes = int64_t{256} << 20;

struct ChannelOptions {
  TlsFiles tls = {};
  std::string tls_name = {};  // The name in the server's certificate, if it is not the host of the address.
  int64_t max_message_bytes = kDefaultMaxMessageBytes;  // Of one message, either way; 1 to 2^31 - 1.
};

// Does not wait for a connection. Returns InvalidArgument for a bad address or limit, and the errors of ReadClientTls.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const std::string& address,
                                                           const ChannelOptions& options = ChannelOptions());

struct ServerOptions {
  std::string listen = {};  // Port 0: one that the system chooses.
  TlsFiles tls = {};        // With a CA, clients must show a certificate signed by it.
  int64_t max_message_bytes = kDefaultMaxMessageBytes;
  std::string also_listen = {};  // Another address, a Unix socket, say; empty: none.
};

struct StartedServer {
  std::string address;  // What it listens on, with the port that was chosen.
  std::unique_ptr<grpc::Server> server;
};

// Starts a server with what `add_services` adds to the builder: services, and completion queues. A service
// belongs to one server and must outlive it. Returns InvalidArgument for a bad address or limit, the errors of
// ReadServerTls, AlreadyExists if another one listens there, and Unavailable, with the system's reason, if the address
// cannot be bound.
absl::StatusOr<StartedServer> StartServer(const ServerOptions& options,
                                          absl::FunctionRef<void(grpc::ServerBuilder&)> add_services);

}  // namespace rowan

#endif  // ROWAN_COMMON_CHANNEL_H_
