#include "common/channel.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/address.h"
#include "common/grpc_status.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tests/common/test_certificates.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::rowan::testing::TestCertificates;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Answers any call with what it was sent.
class EchoService final : public grpc::CallbackGenericService {
  class Echo final : public grpc::ServerGenericBidiReactor {
   public:
    Echo() { StartRead(&bytes_); }
    void OnReadDone(bool ok) override {
      ok ? StartWriteAndFinish(&bytes_, {}, grpc::Status::OK) : Finish(grpc::Status::OK);
    }
    void OnDone() override { delete this; }

   private:
    grpc::ByteBuffer bytes_;
  };
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override { return new Echo; }
};

class ChannelTest : public ::testing::Test {
 protected:
  absl::StatusOr<StartedServer> Start(const ServerOptions& options) {
    services_.push_back(std::make_unique<EchoService>());
    return StartServer(options, [this](grpc::ServerBuilder& builder) {
      builder.RegisterCallbackGenericService(services_.back().get());
    });
  }

  // Sends `bytes` bytes there and back.
  static absl::Status Call(const std::string& address, const ChannelOptions& options = {}, int64_t bytes = 5) {
    auto channel = MakeChannel(address, options);
    if (!channel.ok()) return channel.status();
    grpc::GenericStub stub(*channel);
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(20)));
    const grpc::Slice slice(std::string(static_cast<size_t>(bytes), 'x'));
    const grpc::ByteBuffer sent(&slice, 1);
    grpc::ByteBuffer received;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareUnaryCall(&context, "/rowan.Test/Echo", sent, &queue);
    grpc::Status status;
    call->StartCall();
    call->Finish(&received, &status, nullptr);
    void* tag;
    bool ok;
    queue.Next(&tag, &ok);
    queue.Shutdown();
    if (status.ok() && received.Length() != static_cast<size_t>(bytes)) return absl::InternalError("another length");
    return FromGrpcStatus(status);
  }

  std::vector<std::unique_ptr<EchoService>> services_;
};

TEST_F(ChannelTest, CallsGoThereAndBack) {
  const auto server = Start({"127.0.0.1:0"});
  ASSERT_OK(server);
  EXPECT_OK(Call(server->address));
}

TEST_F(ChannelTest, UnixSocketsWork) {
  char folder[] = "/tmp/rowan-channel-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string address = absl::StrCat("unix:", folder, "/s");
  {
    const auto server = Start({address});
    ASSERT_OK(server);
    EXPECT_EQ(server->address, address);
    EXPECT_OK(Call(address));
    EXPECT_THAT(Start({address}), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(address)));
    EXPECT_OK(Call(address));
  }
  unlink(absl::StrCat(folder, "/s").c_str());
  rmdir(folder);
}

TEST_F(ChannelTest, IPv6AddressesAreUnderstood) {
  const auto server = Start({"[::1]:0"});
  if (!server.ok()) GTEST_SKIP() << "this machine has no IPv6: " << server.status();
  EXPECT_OK(Call(server->address));
}

TEST_F(ChannelTest, SecondServerOnAPortIsRefused) {
  const auto first = Start({"127.0.0.1:0"});
  ASSERT_OK(first);
  EXPECT_THAT(Start({first->address}), StatusIs(absl::StatusCode::kAlreadyExists,
                                                "cannot listen on " + first->address + ": Address already in use"));
}

TEST_F(ChannelTest, NobodyCanShareAServersPort) {
  const auto server = Start({"127.0.0.1:0"});
  ASSERT_OK(server);
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons(ParseAddress(server->address)->port);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  ASSERT_EQ(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)), 0);
  EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  close(fd);
}

TEST_F(ChannelTest, PortIsFreeAgainAfterAServer) {
  auto first = Start({"127.0.0.1:0"});
  ASSERT_OK(first);
  ASSERT_OK(Call(first->address));
  first->server.reset();
  const auto second = Start({first->address});
  ASSERT_OK(second);
  EXPECT_OK(Call(first->address));
}

TEST_F(ChannelTest, ProxyOfTheEnvironmentIsIgnored) {
  for (const char* name : {"http_proxy", "https_proxy", "grpc_proxy"}) setenv(name, "http://127.0.0.1:1", 1);
  const auto server = Start({"127.0.0.1:0"});
  ASSERT_OK(server);
  EXPECT_OK(Call(server->address));
  for (const char* name : {"http_proxy", "https_proxy", "grpc_proxy"}) unsetenv(name);
}

TEST_F(ChannelTest, MessagesAreBoundedByTheLimitAlone) {
  const int64_t limit = 20 << 20;
  const auto server = Start({"127.0.0.1:0", {}, limit});
  ASSERT_OK(server);
  EXPECT_OK(Call(server->address, {}, limit));
  EXPECT_THAT(Call(server->address, {}, limit + 1), StatusIs(absl::StatusCode::kResourceExhausted, _));
  EXPECT_THAT(Call(server->address, {{}, "", 1000}, 1001), StatusIs(absl::StatusCode::kResourceExhausted, _));
  EXPECT_THAT(MakeChannel(server->address, {{}, "", 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("limit of 0 bytes")));
  EXPECT_THAT(Start({"127.0.0.1:0", {}, int64_t{1} << 31}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("limit of 2147483648 bytes")));
}

TEST_F(ChannelTest, BadAddressIsNamed) {
  EXPECT_THAT(MakeChannel("nowhere"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'nowhere'")));
  EXPECT_THAT(Start({"nowhere"}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'nowhere'")));
}

TEST_F(ChannelTest, TlsRefusesWhoDoesNotSpeakIt) {
  const TestCertificates certificates;
  const auto server = Start({"127.0.0.1:0", {"", certificates.server().certificate, certificates.server().key}});
  ASSERT_OK(server);
  EXPECT_OK(Call(server->address, {{certificates.ca()}}));
  EXPECT_THAT(Call(server->address), StatusIs(absl::StatusCode::kUnavailable, _));
  EXPECT_THAT(Call(server->address, {{certificates.other_ca()}}), StatusIs(absl::StatusCode::kUnavailable, _));
}

TEST_F(ChannelTest, TlsChecksTheServersName) {
  const TestCertificates certificates;
  const auto server = Start({"127.0.0.1:0", {"", certificates.server().certificate, certificates.server().key}});
  ASSERT_OK(server);
  EXPECT_OK(Call(server->address, {{certificates.ca()}, "localhost"}));
  EXPECT_THAT(Call(server->address, {{certificates.ca()}, "elsewhere"}), StatusIs(absl::StatusCode::kUnavailable, _));
}

TEST_F(ChannelTest, MutualTlsRefusesAStranger) {
  const TestCertificates certificates;
  const auto server =
      Start({"127.0.0.1:0", {certificates.ca(), certificates.server().certificate, certificates.server().key}});
  ASSERT_OK(server);
  EXPECT_OK(Call(server->address, {{certificates.ca(), certificates.client().certificate, certificates.client().key}}));
  EXPECT_THAT(Call(server->address, {{certificates.ca()}}), StatusIs(absl::StatusCode::kUnavailable, _));
  EXPECT_THAT(
      Call(server->address, {{certificates.ca(), certificates.stranger().certificate, certificates.stranger().key}}),
      StatusIs(absl::StatusCode::kUnavailable, _));
}

TEST_F(ChannelTest, TlsFilesAreNamedWhenTheyAreWrong) {
  const TestCertificates certificates;
  EXPECT_THAT(MakeChannel("localhost:1", {{"/no/ca.pem"}}),
              StatusIs(absl::StatusCode::kNotFound, "TLS file /no/ca.pem: cannot be read: No such file or directory"));
  EXPECT_THAT(Start({"127.0.0.1:0", {certificates.ca()}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a server needs a certificate and a key too")));
}

}  // namespace
}  // namespace rowan
