// RemoteStream: one stream of requests to a server, client side, until it fails. Thread-safe.
//
// Knows ids, deadlines and bytes; what a reply means is the caller's business. Callbacks come in gRPC's threads, in the
// thread that calls Expire or Close, and before Send returns when the stream has failed already. Owns itself until gRPC
// is done with it. Lock: mu_ is held over no call of gRPC, and over no callback but `waiting`.
#ifndef ROWAN_WORKER_CLIENT_REMOTE_STREAM_H_
#define ROWAN_WORKER_CLIENT_REMOTE_STREAM_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/data_plane.h"
#include "common/mutex.h"
#include "common/wire/byte_chain.h"
#include "common/wire/data_reply.h"
#include "common/wire/message_writer.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/client_callback.h"

namespace rowan {

class RemoteStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  struct Call {
    absl::Time deadline;
    absl::Duration patience;           // deadline less the time of the call, for its error
    const void* cancel_key = nullptr;  // see Cancel
    DataPlane::PullWaiting waiting;    // may be null
    // The end of the call: its reply, or null and an error. The reply's own status is OK.
    std::function<void(const absl::Status& status, const ByteChain* chain, const ParsedReply* reply)> done;
  };

  // `address`: for errors.
  static std::shared_ptr<RemoteStream> Start(const std::shared_ptr<grpc::Channel>& channel, const std::string& address);

  // Sends what `encode` makes of the call's id.
  void Send(Call call, absl::FunctionRef<WireMessage(uint64_t id)> encode) ABSL_LOCKS_EXCLUDED(mu_);
  // Asks the server to let go of the calls with this key; they have until `deadline` to end.
  void Cancel(const void* cancel_key, absl::Time deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the calls whose deadline has passed.
  void Expire(absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);
  // Ends all calls and the stream, with Cancelled.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

  // No call sent from now on will succeed.
  bool failed() const ABSL_LOCKS_EXCLUDED(mu_);
  // gRPC is done with it, and no callback is left.
  bool ended() const ABSL_LOCKS_EXCLUDED(mu_);
  void WaitUntilEnded() ABSL_LOCKS_EXCLUDED(mu_);

  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnDone(const grpc::Status& status) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    Call call;
    std::string waits_for;  // as the server said last
  };

  explicit RemoteStream(const std::string& address) : address_(address) {}

  // Writes what waits, and lets gRPC end the stream once nothing will be started any more.
  void Proceed() ABSL_LOCKS_EXCLUDED(mu_);
  void Receive(const grpc::ByteBuffer& buffer) ABSL_LOCKS_EXCLUDED(mu_);
  // What calls end with.
  absl::Status Failure(const grpc::Status& status) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string address_;
  grpc::ClientContext context_;
  grpc::ByteBuffer read_;   // gRPC's
  grpc::ByteBuffer write_;  // gRPC's while writing_
  mutable Mutex mu_;
  CondVar ended_changed_;
  std::shared_ptr<RemoteStream> self_ ABSL_GUARDED_BY(mu_);  // until OnDone
  uint64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  int starting_ ABSL_GUARDED_BY(mu_) = 0;     // threads inside StartWrite
  bool broken_ ABSL_GUARDED_BY(mu_) = false;  // nothing may be started any more
  bool hold_ ABSL_GUARDED_BY(mu_) = true;     // keeps gRPC from ending the stream
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status reason_ ABSL_GUARDED_BY(mu_);  // why this side ended it; OK: it did not
  std::deque<WireMessage> requests_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, Entry> calls_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_REMOTE_STREAM_H_
