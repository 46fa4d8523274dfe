// RemoteDataPlane: a server's DataPlane over gRPC, through TCP or a Unix socket.
//
// One long-lived stream carries all calls; many may be in flight. It is made by the first call, and again by the first
// one after it failed. Every call ends within its deadline:
//   DeadlineExceeded  no answer in time; says what the call was last told to wait for. A push may have been taken.
//   Unavailable       the stream failed, or the server cannot be reached: call again.
//   others            the server's answer.
// Requests larger than a message may be are sent in several: a pull's keys split freely, and what it reads is as
// consistent as the job's mode makes it; a push's parts count as one push.
//
// Callbacks come in gRPC's threads and in one of its own; they must not block, nor destroy this. Thread-safe.
#ifndef ROWAN_WORKER_CLIENT_REMOTE_DATA_PLANE_H_
#define ROWAN_WORKER_CLIENT_REMOTE_DATA_PLANE_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/channel.h"
#include "common/data_plane.h"
#include "common/mutex.h"
#include "common/wire/buffer_pool.h"
#include "worker/client/remote_stream.h"

namespace rowan {

class RemoteDataPlane final : public DataPlane {
 public:
  struct Options {
    std::string address;                          // of the server: see common/channel.h
    ChannelOptions channel = {};                  // max_message_bytes: larger requests are split
    absl::Duration deadline = absl::Minutes(10);  // of each call
    // How long a server may take to answer that a pull is cancelled.
    absl::Duration cancel_deadline = absl::Seconds(5);
    std::string token = {};  // sent with every request
  };

  // Does not connect. The errors of MakeChannel.
  static absl::StatusOr<std::unique_ptr<RemoteDataPlane>> Create(const Options& options);
  // Calls that are in flight end with Cancelled. Joins everything.
  ~RemoteDataPlane() override;

  // Waits for the answer.
  absl::Status Hello(const RequestHeader& header, HelloReply* reply) override;
  void Pull(const PullRequest* request, PullWaiting waiting, PullDone done) override;
  void CancelPull(const PullRequest* request) override;
  // Without `request.storage` the arrays are copied.
  void Push(PushRequest request, PushDone done) override;
  void Lookup(const PullRequest* request, PullDone done) override;

 private:
  RemoteDataPlane(const Options& options, std::shared_ptr<grpc::Channel> channel);

  // The stream that works, or a new one.
  std::shared_ptr<RemoteStream> CurrentStream() ABSL_LOCKS_EXCLUDED(mu_);
  void SendPull(const PullRequest* request, bool lookup, PullWaiting waiting, PullDone done);
  void WatchDeadlines() ABSL_LOCKS_EXCLUDED(mu_);

  const Options options_;
  const std::shared_ptr<grpc::Channel> channel_;
  BufferPool pool_;  // of pushes on their way
  Mutex mu_;
  CondVar closing_changed_;
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<RemoteStream> stream_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<RemoteStream>> failed_ ABSL_GUARDED_BY(mu_);  // that still tell their calls
  std::thread watcher_;                                                     // joined by the destructor
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_REMOTE_DATA_PLANE_H_
