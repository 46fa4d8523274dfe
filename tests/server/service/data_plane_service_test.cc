// What only a server on the network has to face: foreign clients, hostile ones, and such that leave.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/grpc_status.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "proto/data_plane.grpc.pb.h"
#include "tests/served_job.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::From;
using ::rowan::testing::ManyKeys;
using ::rowan::testing::Promise;
using ::rowan::testing::PushAndWait;
using ::rowan::testing::PushOf;
using ::rowan::testing::ServedJob;
using ::rowan::testing::ServedPlane;
using ::rowan::testing::StatusIs;
using ::rowan::testing::TestPull;
using ::rowan::testing::Transport;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

// A client made from the .proto alone.
class PlainClient {
 public:
  explicit PlainClient(const std::string& address)
      : stub_(proto::DataPlane::NewStub(*MakeChannel(address))), stream_((Deadline(&context_), stub_->Exchange(&context_))) {}
  ~PlainClient() {
    context_.TryCancel();
    if (!finished_) (void)stream_->Finish();
  }

  proto::DataRequest Request(uint64_t id, uint64_t number = 0, uint32_t rank = 0) {
    proto::DataRequest request;
    request.set_id(id);
    request.mutable_header()->set_generation(1);
    request.mutable_header()->set_rank(rank);
    request.mutable_header()->set_incarnation(1);
    request.mutable_header()->set_number(number);
    return request;
  }
  void Send(const proto::DataRequest& request) { EXPECT_TRUE(stream_->Write(request)); }
  proto::DataReply Receive() {
    proto::DataReply reply;
    EXPECT_TRUE(stream_->Read(&reply));
    return reply;
  }
  proto::DataReply Call(const proto::DataRequest& request) {
    Send(request);
    return Receive();
  }
  // The stream's end, once the client sends no more.
  absl::Status Finish() {
    stream_->WritesDone();
    proto::DataReply reply;
    while (stream_->Read(&reply)) replies_after_end.push_back(reply);
    finished_ = true;
    return FromGrpcStatus(stream_->Finish());
  }
  void Leave() { context_.TryCancel(); }

  std::vector<proto::DataReply> replies_after_end;

 private:
  static void Deadline(grpc::ClientContext* context) {
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(40));
  }

  grpc::ClientContext context_;
  std::unique_ptr<proto::DataPlane::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<proto::DataRequest, proto::DataReply>> stream_;
  bool finished_ = false;
};

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

TEST(DataPlaneServiceTest, PlainProtobufClientPullsAndPushes) {
  ServedJob job(Transport::kTcp, proto::JobSpec::ASYNC, 1);
  PlainClient client(job.address());
  EXPECT_TRUE(client.Call([&] {
                       auto request = client.Request(1);
                       request.mutable_hello();
                       return request;
                     }())
                  .has_hello());
  proto::DataRequest pull = client.Request(2);
  proto::TableKeys* const keys = pull.mutable_pull()->add_tables();
  keys->set_table(ServedJob::kTable);
  keys->set_keys(Bytes<uint64_t>({5, 6}));
  keys->set_want_outcomes(true);
  pull.mutable_pull()->add_dense()->set_dense(ServedJob::kDense);
  pull.mutable_pull()->mutable_dense(0)->set_size(ServedJob::kDenseSize);
  pull.mutable_pull()->mutable_dense(0)->set_blocks(Bytes<uint64_t>({1}));
  const proto::DataReply before = client.Call(pull);
  ASSERT_TRUE(before.has_pull()) << before.ShortDebugString();
  EXPECT_EQ(before.id(), 2u);
  EXPECT_EQ(before.pull().tables(0).outcomes(), std::string("\1\1"));
  EXPECT_EQ(before.pull().dense(0).values().size(), (5000 - 4096) * sizeof(float));

  // The same key twice: the sum of both.
  proto::DataRequest push = client.Request(3, /*number=*/0);
  proto::Section* const section = push.mutable_push()->add_sections();
  section->set_shard(Placement(ServedJob::kShards).ShardOfKey(5));
  section->add_tables()->set_table(ServedJob::kTable);
  section->mutable_tables(0)->set_width(3);
  section->mutable_tables(0)->set_keys(Bytes<uint64_t>({5, 5}));
  section->mutable_tables(0)->set_gradients(Bytes<float>({1, 2, 3, 1, 1, 1}));
  const proto::DataReply pushed = client.Call(push);
  ASSERT_TRUE(pushed.has_push()) << pushed.ShortDebugString();
  EXPECT_EQ(pushed.push().outcomes(), "\1");

  pull.set_id(4);
  const proto::DataReply after = client.Call(pull);
  EXPECT_EQ(after.pull().tables(0).outcomes(), std::string("\0\1", 2));
  float old_row[6], row[6];
  std::memcpy(old_row, before.pull().tables(0).rows().data(), sizeof(row));
  std::memcpy(row, after.pull().tables(0).rows().data(), sizeof(row));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(row[i], old_row[i] - (i + 2), 1e-6);
  for (int i = 3; i < 6; ++i) EXPECT_EQ(row[i], old_row[i]);
  EXPECT_OK(client.Finish());
}

TEST(DataPlaneServiceTest, BadSizesAreAnsweredAndTheStreamGoesOn) {
  ServedJob job(Transport::kTcp, proto::JobSpec::ASYNC, 1);
  PlainClient client(job.address());
  const auto expect_error = [&](const proto::DataRequest& request, absl::StatusCode code, const std::string& message) {
    const proto::DataReply reply = client.Call(request);
    EXPECT_EQ(reply.id(), request.id());
    EXPECT_EQ(reply.status().code(), static_cast<uint32_t>(code)) << reply.ShortDebugString();
    EXPECT_THAT(reply.status().message(), HasSubstr(message));
  };
  uint64_t id = 0;
  const auto pull = [&](const std::string& keys, uint32_t table = ServedJob::kTable) {
    proto::DataRequest request = client.Request(++id);
    request.mutable_lookup()->add_tables()->set_table(table);
    request.mutable_lookup()->mutable_tables(0)->set_keys(keys);
    return request;
  };
  expect_error(pull("1234567"), kInvalid, "table 1: 7 bytes");
  expect_error(pull("12345678", 9), absl::StatusCode::kNotFound, "9");
  proto::DataRequest wide = pull("12345678");
  wide.mutable_lookup()->mutable_tables(0)->set_width(4);
  expect_error(wide, kInvalid, "width 3, the request says 4");
  proto::DataRequest dense = client.Request(++id);
  dense.mutable_lookup()->add_dense()->set_dense(ServedJob::kDense);
  dense.mutable_lookup()->mutable_dense(0)->set_blocks(Bytes<uint64_t>({0, 2}));
  expect_error(dense, kInvalid, "no block 2");
  dense.set_id(++id);
  dense.mutable_lookup()->mutable_dense(0)->set_size(4999);
  expect_error(dense, kInvalid, "5000 floats, the request says 4999");
  proto::DataRequest push = client.Request(++id);
  push.mutable_push()->add_sections()->add_tables()->set_keys("12345678");
  push.mutable_push()->mutable_sections(0)->mutable_tables(0)->set_gradients("123");
  expect_error(push, kInvalid, "3 bytes of gradients");
  expect_error(client.Request(++id), absl::StatusCode::kUnimplemented, "without a body");
  EXPECT_TRUE(client.Call(pull("12345678")).has_pull());
  EXPECT_OK(client.Finish());
}

TEST(DataPlaneServiceTest, OtherMethodsAreUnimplemented) {
  ServedJob job(Transport::kTcp, proto::JobSpec::ASYNC, 1);
  grpc::GenericStub stub(*MakeChannel(job.address()));
  grpc::ClientContext context;
  const grpc::Slice slice("x");
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer reply;
  Promise<absl::Status> answer;
  stub.UnaryCall(&context, "/rowan.proto.DataPlane/Nothing", {}, &request, &reply,
                 [&](grpc::Status status) { answer.Set(FromGrpcStatus(status)); });
  EXPECT_THAT(answer.Wait(), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("/rowan.proto.DataPlane/Nothing")));
}

// Sends bytes as messages of a stream, and returns how the stream ended.
class RawStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  RawStream(const std::string& address, const std::string& bytes) : stub_(*MakeChannel(address)) {
    const grpc::Slice slice(bytes);
    message_ = grpc::ByteBuffer(&slice, 1);
    stub_.PrepareBidiStreamingCall(&context_, "/rowan.proto.DataPlane/Exchange", {}, this);
    StartRead(&reply_);
    StartWriteLast(&message_, {});
    StartCall();
  }
  void OnDone(const grpc::Status& status) override { end_.Set(FromGrpcStatus(status)); }
  absl::Status End() { return end_.Wait(); }

 private:
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer message_, reply_;
  Promise<absl::Status> end_;
};

// While another client's pull waits, and afterwards.
TEST(DataPlaneServiceTest, HostileClientsHarmNobodyElse) {
  ServedJob job(Transport::kTcp, proto::JobSpec::SYNC, 2);
  DataPlane* const honest = job.Connect();
  ASSERT_OK(PushAndWait(honest, PushOf(From(0, 0), ManyKeys(100), 1)).status);
  TestPull waiting(From(0, 1), ManyKeys(100));
  waiting.request.committed = 1;
  waiting.Start(honest);

  std::mt19937_64 random(5);
  int violations = 0;
  for (int i = 0; i < 100; ++i) {
    std::string bytes(1 + random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const absl::Status end = RawStream(job.address(), bytes).End();
    // By chance, the bytes are a request that nobody knows.
    if (end.ok()) continue;
    EXPECT_THAT(end, StatusIs(kInvalid, HasSubstr(" at byte ")));
    ++violations;
  }
  EXPECT_GT(violations, 50);

  const auto address = ParseAddress(job.address());
  ASSERT_OK(address);
  std::vector<int> sockets;
  const auto connect_and_send = [&](const std::string& bytes) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(address->port);
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    sockets.push_back(fd);
  };
  for (int i = 0; i < 20; ++i) {
    std::string bytes(1 + random() % 5000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    connect_and_send(bytes);
  }
  // Half-open HTTP/2: the preface and no more; half a frame; a stream's headers that never end.
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  connect_and_send("PRI * HT");
  connect_and_send(preface);
  connect_and_send(preface + std::string("\0\0\0\4\0\0\0\0\0", 9));
  connect_and_send(preface + std::string("\0\0\0\4\0\0\0\0\0\0\xff\xff\1\4\0\0\0\1", 18));

  HelloReply hello;
  EXPECT_OK(honest->Hello(From(0, 0), &hello));
  DataPlane* const other = job.Connect();
  ASSERT_OK(PushAndWait(other, PushOf(From(1, 0), ManyKeys(100), 1)).status);
  TestPull pull(From(1, 1), ManyKeys(100));
  pull.request.committed = 1;
  ASSERT_OK(pull.Run(other));
  ASSERT_OK(waiting.answer.Wait());
  EXPECT_EQ(waiting.rows, pull.rows);
  for (const int fd : sockets) close(fd);
}

TEST(DataPlaneServiceTest, RequestsAndRepliesOverTheLimitAreRefusedInTheReply) {
  DataStreamLimits limits;
  limits.max_message_bytes = 10 << 20;
  ServedJob job(Transport::kTcp, proto::JobSpec::ASYNC, 1, limits);
  PlainClient client(job.address());
  proto::DataRequest pull = client.Request(1);
  pull.mutable_lookup()->add_tables()->set_table(ServedJob::kTable);
  // The request is larger than the limit; then only the reply would be.
  for (const size_t keys : {2000000, 1000000}) {
    pull.mutable_lookup()->mutable_tables(0)->set_keys(Bytes(ManyKeys(keys)));
    const proto::DataReply reply = client.Call(pull);
    EXPECT_EQ(reply.status().code(), static_cast<uint32_t>(kExhausted)) << keys;
    EXPECT_THAT(reply.status().message(), HasSubstr("--max_message_bytes is 10485760"));
  }
  pull.mutable_lookup()->mutable_tables(0)->set_keys(Bytes(ManyKeys(10)));
  EXPECT_TRUE(client.Call(pull).has_pull());
  EXPECT_OK(client.Finish());
}

TEST(DataPlaneServiceTest, PartsOfAPushThatDoNotFitAreRefusedTogether) {
  ServedJob job(Transport::kTcp, proto::JobSpec::ASYNC, 1);
  PlainClient client(job.address());
  proto::DataRequest part = client.Request(1);
  part.mutable_push()->set_parts(3);
  client.Send(part);
  part.set_id(2);
  const proto::DataReply first = client.Call(part);
  const proto::DataReply second = client.Receive();
  EXPECT_EQ(first.id() + second.id(), 3u);
  for (const proto::DataReply& reply : {first, second}) {
    EXPECT_EQ(reply.status().code(), static_cast<uint32_t>(kInvalid));
    EXPECT_THAT(reply.status().message(), HasSubstr("part 0 came twice"));
  }
  part.set_id(3);
  part.mutable_push()->set_part(3);
  EXPECT_THAT(client.Call(part).status().message(), HasSubstr("part 3 of 3"));
  // One whose other parts never come ends with the stream.
  part.set_id(4);
  part.mutable_push()->set_part(1);
  client.Send(part);
  EXPECT_OK(client.Finish());
  ASSERT_EQ(client.replies_after_end.size(), 1u);
  EXPECT_THAT(client.replies_after_end[0].status().message(), HasSubstr("never came"));
}

// Holds pulls until it is told, and remembers who gave up.
class HoldingPlane final : public DataPlane {
 public:
  absl::Status Hello(const RequestHeader&, HelloReply* reply) override {
    reply->applied = 42;
    return absl::OkStatus();
  }
  void Pull(const PullRequest* request, PullWaiting waiting, PullDone done) override {
    waiting("still waiting for Godot");
    MutexLock lock(&mu_);
    pulls_.push_back({request, std::move(done)});
    changed_.SignalAll();
  }
  void CancelPull(const PullRequest* request) override {
    PullDone done;
    {
      MutexLock lock(&mu_);
      for (auto it = pulls_.begin(); it != pulls_.end(); ++it) {
        if (it->first != request) continue;
        done = std::move(it->second);
        pulls_.erase(it);
        ++cancelled_;
        changed_.SignalAll();
        break;
      }
    }
    if (done) done(absl::CancelledError("given up while waiting for Godot"));
  }
  void Push(PushRequest, PushDone done) override { done({absl::UnimplementedError("no pushes"), {}, 0}); }
  void Lookup(const PullRequest*, PullDone done) override { done(absl::OkStatus()); }

  void WaitFor(size_t held, int cancelled) {
    MutexLock lock(&mu_);
    const absl::Time end = absl::Now() + absl::Seconds(30);
    while ((pulls_.size() != held || cancelled_ != cancelled) && absl::Now() < end) {
      changed_.WaitWithTimeout(&mu_, end - absl::Now());
    }
    EXPECT_EQ(pulls_.size(), held);
    EXPECT_EQ(cancelled_, cancelled);
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::vector<std::pair<const PullRequest*, PullDone>> pulls_ ABSL_GUARDED_BY(mu_);
  int cancelled_ ABSL_GUARDED_BY(mu_) = 0;
};

DataPlaneSizes NoSizes() {
  const auto none = [](uint32_t) -> absl::StatusOr<int64_t> { return absl::NotFoundError("no tables here"); };
  return {none, none};
}

TEST(DataPlaneServiceTest, WaitingPullsHoldNoThreadAndStopNoReading) {
  HoldingPlane plane;
  DataStreamLimits limits;
  limits.threads = 1;
  limits.max_queued_requests = 4;
  const ServedPlane served(&plane, NoSizes(), Transport::kTcp, limits);
  PlainClient client(served.address());
  constexpr int kPulls = 200;
  for (int i = 0; i < kPulls; ++i) {
    proto::DataRequest pull = client.Request(i);
    pull.mutable_pull();
    const proto::DataReply reply = client.Call(pull);
    EXPECT_EQ(reply.waiting().reason(), "still waiting for Godot");
  }
  plane.WaitFor(kPulls, 0);
  proto::DataRequest hello = client.Request(1000);
  hello.mutable_hello();
  EXPECT_EQ(client.Call(hello).hello().applied(), 42u);
  proto::DataRequest cancel;
  cancel.mutable_cancel()->set_id(17);
  client.Send(cancel);
  const proto::DataReply cancelled = client.Receive();
  EXPECT_EQ(cancelled.id(), 17u);
  EXPECT_THAT(cancelled.status().message(), HasSubstr("Godot"));
  plane.WaitFor(kPulls - 1, 1);
  // Closing properly cancels the others, and says so.
  EXPECT_OK(client.Finish());
  EXPECT_EQ(client.replies_after_end.size(), kPulls - 1u);
  plane.WaitFor(0, kPulls);
}

TEST(DataPlaneServiceTest, PullsOfAClientThatHasGoneAreCancelled) {
  HoldingPlane plane;
  const ServedPlane served(&plane, NoSizes(), Transport::kTcp);
  PlainClient client(served.address());
  proto::DataRequest pull = client.Request(1);
  pull.mutable_pull();
  client.Call(pull);
  plane.WaitFor(1, 0);
  client.Leave();
  plane.WaitFor(0, 1);
}

TEST(DataPlaneServiceTest, TooManyWaitingPullsAreRefused) {
  HoldingPlane plane;
  DataStreamLimits limits;
  limits.max_waiting_pulls = 2;
  const ServedPlane served(&plane, NoSizes(), Transport::kTcp, limits);
  PlainClient client(served.address());
  for (int i = 0; i < 3; ++i) {
    proto::DataRequest pull = client.Request(i);
    pull.mutable_pull();
    const proto::DataReply reply = client.Call(pull);
    EXPECT_EQ(reply.status().code(), i < 2 ? 0 : static_cast<uint32_t>(kExhausted));
  }
}

TEST(DataPlaneServiceTest, EndsWhileClientsWait) {
  HoldingPlane plane;
  auto served = std::make_unique<ServedPlane>(&plane, NoSizes(), Transport::kTcp);
  PlainClient client(served->address());
  proto::DataRequest pull = client.Request(1);
  pull.mutable_pull();
  client.Call(pull);
  served.reset();
  plane.WaitFor(0, 1);
  EXPECT_THAT(client.Finish(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("shutting down")));
}

}  // namespace
}  // namespace rowan
