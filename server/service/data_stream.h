// DataStream: one client's stream of requests and replies, server side.
//
// A request's way: gRPC's thread reads it and finds its structure (OnReadDone); a thread of the executor decodes it and
// hands it to the DataPlane; whichever thread the answer comes in encodes the reply and queues it; replies are written
// one after the other. A pull's rows are written by the engine straight into the memory that gRPC sends.
//
// Reading pauses while requests that nobody has begun to work on, and replies that the client does not take, are more
// than the limits. A waiting pull counts for neither: it never stops the reading, and has limits of its own.
//
// Owns itself until gRPC is done with it; tasks and callbacks hold on to it. Thread-safe. mu_ is held over no call of
// the DataPlane or gRPC.
#ifndef ROWAN_SERVER_SERVICE_DATA_STREAM_H_
#define ROWAN_SERVER_SERVICE_DATA_STREAM_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/channel.h"
#include "common/data_plane.h"
#include "common/mutex.h"
#include "common/wire/buffer_pool.h"
#include "common/wire/data_reply.h"
#include "common/wire/data_request.h"
#include "common/wire/grpc_buffer.h"
#include "grpcpp/generic/async_generic_service.h"
#include "server/service/executor.h"

namespace rowan {

// What tables and dense parameters are there: asked before memory is spent on a request. NotFound names the id.
struct DataPlaneSizes {
  std::function<absl::StatusOr<int64_t>(uint32_t table)> table_width;  // floats of a row
  std::function<absl::StatusOr<int64_t>(uint32_t dense)> dense_size;   // floats
};

struct DataStreamLimits {
  int64_t max_message_bytes = kDefaultMaxMessageBytes;  // of a request and of a reply
  int64_t max_push_bytes = int64_t{4} << 30;            // of a push in parts, and of a stream's unfinished ones
  int64_t max_queued_bytes = int64_t{64} << 20;         // a stream's requests to be worked on, and unsent replies
  int64_t max_queued_requests = 256;
  int64_t max_waiting_pulls = 1024;              // a stream's
  int64_t max_waiting_bytes = int64_t{1} << 30;  // of their replies, beside one pull of any size
  int threads = 2;                               // that work on requests
};

// What the streams of one service share.
struct DataStreamContext {
  DataStreamContext(DataPlane* plane, DataPlaneSizes sizes, const DataStreamLimits& limits);

  // Calls that the DataPlane has, or that wait for the executor.
  void Begin() ABSL_LOCKS_EXCLUDED(mu);
  void End() ABSL_LOCKS_EXCLUDED(mu);
  void WaitUntilIdle() ABSL_LOCKS_EXCLUDED(mu);

  DataPlane* const plane;
  const DataPlaneSizes sizes;
  const DataStreamLimits limits;
  BufferPool pool;
  Mutex mu;
  CondVar idle;
  int64_t active ABSL_GUARDED_BY(mu) = 0;
  Executor executor;  // the last member: its threads use the others
};

class DataStream final : public grpc::ServerGenericBidiReactor, public std::enable_shared_from_this<DataStream> {
 public:
  static std::shared_ptr<DataStream> Start(std::shared_ptr<DataStreamContext> context);

  // Ends the stream: waiting pulls are cancelled, replies that are not on their way are dropped.
  void Close(const grpc::Status& status) ABSL_LOCKS_EXCLUDED(mu_);

  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mu_);
  void OnDone() override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Received {
    explicit Received(const grpc::ByteBuffer& buffer) : message(buffer) {}
    ReceivedMessage message;
    ParsedRequest request;
  };
  struct Pull {
    enum class State { kQueued, kGiving, kGiven };

    uint64_t id = 0;
    PullRequest request;
    std::vector<RowsReply> tables;
    std::vector<absl::Span<const float>> dense;
    std::shared_ptr<char> storage;  // of keys, rows and outcomes
    int64_t bytes = 0;              // of the storage
    State state = State::kQueued;   // these four: under mu_
    bool cancelled = false;
    bool counted = false;  // among the waiting ones
    bool telling = false;  // a Waiting is on its way
  };
  struct Part {
    bool here = false;
    uint64_t id = 0;
    PushRequest push;
  };
  struct PartedPush {
    size_t received = 0;
    int64_t bytes = 0;
    std::vector<Part> parts;
  };
  using PushKey = std::tuple<uint32_t, uint32_t, uint64_t>;  // rank, incarnation, number

  explicit DataStream(std::shared_ptr<DataStreamContext> context) : context_(std::move(context)) {}

  // Starts what may be started: reading, writing, finishing.
  void Proceed() ABSL_LOCKS_EXCLUDED(mu_);
  void Handle(const std::shared_ptr<Received>& received) ABSL_LOCKS_EXCLUDED(mu_);
  void HandleHello(const ParsedRequest& request);
  void HandlePull(const Received& received) ABSL_LOCKS_EXCLUDED(mu_);
  // Sizes, memory and keys of a pull.
  absl::Status PreparePull(const Received& received, Pull* pull) const;
  void HandlePush(const Received& received) ABSL_LOCKS_EXCLUDED(mu_);
  void HandlePart(const Received& received) ABSL_LOCKS_EXCLUDED(mu_);
  struct IdAndSections {
    uint64_t id;
    size_t sections;
  };
  void GivePush(PushRequest push, std::vector<IdAndSections> parts);
  // A push whose other parts will not come: what came is answered with `status`.
  void AnswerParts(const PartedPush& push, const absl::Status& status);
  void Cancel(uint64_t pull_id) ABSL_LOCKS_EXCLUDED(mu_);
  void CancelAll(const std::vector<std::shared_ptr<Pull>>& pulls) ABSL_LOCKS_EXCLUDED(mu_);
  void TellWaiting(const std::shared_ptr<Pull>& pull, const std::string& reason) ABSL_LOCKS_EXCLUDED(mu_);
  void AnswerPull(const std::shared_ptr<Pull>& pull, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  // The last reply to a request.
  void Reply(WireMessage message) ABSL_LOCKS_EXCLUDED(mu_);

  // Marks every pull as cancelled and returns those that the DataPlane has.
  std::vector<std::shared_ptr<Pull>> TakeWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Unfinished pushes, once no part of theirs can come.
  std::map<PushKey, PartedPush> TakeUnfinished() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Queue(WireMessage message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<DataStreamContext> context_;
  grpc::ByteBuffer read_;   // gRPC's while reading_
  grpc::ByteBuffer write_;  // gRPC's while writing_
  Mutex mu_;
  std::shared_ptr<DataStream> self_ ABSL_GUARDED_BY(mu_);  // until OnDone
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  int starting_reads_ ABSL_GUARDED_BY(mu_) = 0;  // threads inside StartRead
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool read_closed_ ABSL_GUARDED_BY(mu_) = false;  // the client sends no more
  bool closed_ ABSL_GUARDED_BY(mu_) = false;       // nothing but Finish is left to do
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mu_);     // to finish with
  int64_t unhandled_ ABSL_GUARDED_BY(mu_) = 0;   // requests that the executor has
  int64_t unanswered_ ABSL_GUARDED_BY(mu_) = 0;  // requests whose last reply is not queued yet
  int64_t queued_requests_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t waiting_pulls_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t waiting_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t parts_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t writing_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<WireMessage> replies_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, std::shared_ptr<Pull>> pulls_ ABSL_GUARDED_BY(mu_);  // unanswered, by id
  std::map<PushKey, PartedPush> parted_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_DATA_STREAM_H_
