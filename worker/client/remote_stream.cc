#include "worker/client/remote_stream.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/grpc_status.h"
#include "common/wire/data_request.h"
#include "common/wire/grpc_buffer.h"
#include "grpcpp/generic/generic_stub.h"

namespace rowan {
namespace {

constexpr char kExchange[] = "/rowan.proto.DataPlane/Exchange";

}  // namespace

std::shared_ptr<RemoteStream> RemoteStream::Start(const std::shared_ptr<grpc::Channel>& channel,
                                                  const std::string& address) {
  std::shared_ptr<RemoteStream> stream(new RemoteStream(address));
  {
    MutexLock lock(&stream->mu_);
    stream->self_ = stream;
  }
  grpc::GenericStub stub(channel);
  stub.PrepareBidiStreamingCall(&stream->context_, kExchange, {}, stream.get());
  stream->AddHold();
  stream->StartRead(&stream->read_);
  stream->StartCall();
  return stream;
}

void RemoteStream::Send(Call call, absl::FunctionRef<WireMessage(uint64_t)> encode) {
  uint64_t id;
  {
    MutexLock lock(&mu_);
    id = next_id_++;
  }
  WireMessage message = encode(id);
  absl::Status failure;
  {
    MutexLock lock(&mu_);
    if (broken_) {
      failure = Failure(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the stream has ended"));
    } else {
      calls_.emplace(id, Entry{std::move(call), {}});
      requests_.push_back(std::move(message));
    }
  }
  if (!failure.ok()) return call.done(failure, nullptr, nullptr);
  Proceed();
}

void RemoteStream::Proceed() {
  bool release = false;
  {
    mu_.Lock();
    while (!writing_ && !broken_ && !requests_.empty()) {
      writing_ = true;
      ++starting_;
      WireMessage message = std::move(requests_.front());
      requests_.pop_front();
      mu_.Unlock();
      write_ = ToByteBuffer(std::move(message));
      StartWrite(&write_);
      mu_.Lock();
      --starting_;
    }
    if (broken_ && starting_ == 0 && hold_) {
      hold_ = false;
      release = true;
    }
    mu_.Unlock();
  }
  if (release) RemoveHold();
}

void RemoteStream::OnWriteDone(bool) {
  write_.Clear();
  {
    MutexLock lock(&mu_);
    writing_ = false;
  }
  Proceed();
}

void RemoteStream::OnReadDone(bool ok) {
  if (!ok) {
    {
      MutexLock lock(&mu_);
      broken_ = true;
    }
    return Proceed();
  }
  grpc::ByteBuffer buffer;
  buffer.Swap(&read_);
  StartRead(&read_);  // The next reply may be read, by another thread, while this one is decoded.
  Receive(buffer);
}

void RemoteStream::Receive(const grpc::ByteBuffer& buffer) {
  const ReceivedMessage message(buffer);
  absl::StatusOr<ParsedReply> reply = ParseReply(message.chain());
  Call call;
  {
    MutexLock lock(&mu_);
    if (!reply.ok()) {
      if (reason_.ok()) {
        reason_ = absl::InternalError(absl::StrCat("server ", address_, " sent no reply: ", reply.status().message()));
      }
    } else {
      const auto it = calls_.find(reply->id);
      if (it == calls_.end()) return;  // Given up.
      if (reply->kind == ParsedReply::Kind::kWaiting && reply->status.ok()) {
        it->second.waits_for = reply->waiting;
        // Under the lock: the caller's callback must not outlive the call.
        if (it->second.call.waiting) it->second.call.waiting(reply->waiting);
        return;
      }
      call = std::move(it->second.call);
      calls_.erase(it);
    }
  }
  if (!reply.ok()) return context_.TryCancel();
  if (!reply->status.ok()) return call.done(reply->status, nullptr, nullptr);
  call.done(absl::OkStatus(), &message.chain(), &*reply);
}

void RemoteStream::Cancel(const void* cancel_key, absl::Time deadline) {
  {
    MutexLock lock(&mu_);
    for (auto& [id, entry] : calls_) {
      if (entry.call.cancel_key != cancel_key) continue;
      entry.call.deadline = std::min(entry.call.deadline, deadline);
      requests_.push_back(EncodeCancel(next_id_++, id));
    }
  }
  Proceed();
}

void RemoteStream::Expire(absl::Time now) {
  std::vector<Entry> expired;
  {
    MutexLock lock(&mu_);
    for (auto it = calls_.begin(); it != calls_.end();) {
      const auto current = it++;
      if (current->second.call.deadline > now) continue;
      if (current->second.call.cancel_key != nullptr) requests_.push_back(EncodeCancel(next_id_++, current->first));
      expired.push_back(std::move(current->second));
      calls_.erase(current);
    }
  }
  for (const Entry& entry : expired) {
    entry.call.done(absl::DeadlineExceededError(absl::StrCat(
                        "no answer from server ", address_, " within ", absl::FormatDuration(entry.call.patience), ": ",
                        entry.waits_for.empty() ? "it has said nothing about this call" : entry.waits_for)),
                    nullptr, nullptr);
  }
  Proceed();
}

void RemoteStream::Close() {
  {
    MutexLock lock(&mu_);
    if (reason_.ok()) reason_ = absl::CancelledError(absl::StrCat("the connection to server ", address_, " is closed"));
  }
  context_.TryCancel();
}

absl::Status RemoteStream::Failure(const grpc::Status& status) const {
  if (!reason_.ok()) return reason_;
  const absl::Status seen = FromGrpcStatus(status);
  const std::string message =
      absl::StrCat("server ", address_, ": ", seen.ok() ? "it ended the stream" : seen.message());
  switch (seen.code()) {
    // Calling again would not help.
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kResourceExhausted:
      return absl::Status(seen.code(), message);
    default:
      return absl::UnavailableError(message);
  }
}

void RemoteStream::OnDone(const grpc::Status& status) {
  absl::flat_hash_map<uint64_t, Entry> calls;
  absl::Status failure;
  {
    MutexLock lock(&mu_);
    broken_ = true;
    calls.swap(calls_);
    requests_.clear();
    failure = Failure(status);
  }
  for (const auto& [id, entry] : calls) entry.call.done(failure, nullptr, nullptr);
  std::shared_ptr<RemoteStream> self;
  MutexLock lock(&mu_);
  ended_ = true;
  ended_changed_.SignalAll();
  self = std::move(self_);
}

bool RemoteStream::failed() const {
  MutexLock lock(&mu_);
  return broken_;
}

bool RemoteStream::ended() const {
  MutexLock lock(&mu_);
  return ended_;
}

void RemoteStream::WaitUntilEnded() {
  MutexLock lock(&mu_);
  while (!ended_) ended_changed_.WaitWithTimeout(&mu_, absl::Seconds(1));
}

}  // namespace rowan
