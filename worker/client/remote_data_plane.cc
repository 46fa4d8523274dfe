#include "worker/client/remote_data_plane.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "common/wire/data_reply.h"
#include "common/wire/data_request.h"
#include "worker/client/split.h"

namespace rowan {
namespace {

using Kind = ParsedReply::Kind;

// Idle buffers kept for later.
constexpr int64_t kIdleBytes = int64_t{64} << 20;

absl::Status WrongKind() { return absl::InternalError("the server's reply is one to another kind of request"); }

// Calls that are one to the caller: over when all are, with the first error.
class Parts {
 public:
  explicit Parts(size_t n) : left_(n) {}

  // True for the last one to end; then no other thread is here.
  bool End(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (status_.ok()) status_ = status;
    return --left_ == 0;
  }
  absl::Status status() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return status_;
  }

 private:
  mutable Mutex mu_;
  size_t left_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

struct PullInParts {
  PullInParts(std::vector<PullRequest> r, DataPlane::PullDone d)
      : requests(std::move(r)), parts(requests.size()), done(std::move(d)) {}
  const std::vector<PullRequest> requests;
  Parts parts;
  const DataPlane::PullDone done;
};

struct PushInParts {
  PushInParts(std::vector<size_t> s, DataPlane::PushDone d)
      : sections(std::move(s)),
        outcomes(sections.size()),
        refused_rows(sections.size()),
        parts(sections.size()),
        done(std::move(d)) {}
  const std::vector<size_t> sections;                 // of each part
  std::vector<std::vector<SectionOutcome>> outcomes;  // of each part: each is written by its own reply
  std::vector<uint64_t> refused_rows;
  Parts parts;
  const DataPlane::PushDone done;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RemoteDataPlane>> RemoteDataPlane::Create(const Options& options) {
  ROWAN_ASSIGN_OR_RETURN(std::shared_ptr<grpc::Channel> channel, MakeChannel(options.address, options.channel));
  return std::unique_ptr<RemoteDataPlane>(new RemoteDataPlane(options, std::move(channel)));
}

RemoteDataPlane::RemoteDataPlane(const Options& options, std::shared_ptr<grpc::Channel> channel)
    : options_(options), channel_(std::move(channel)), pool_(kIdleBytes), watcher_([this] { WatchDeadlines(); }) {}

RemoteDataPlane::~RemoteDataPlane() {
  std::vector<std::shared_ptr<RemoteStream>> streams;
  {
    MutexLock lock(&mu_);
    closing_ = true;
    closing_changed_.SignalAll();
    streams.swap(failed_);
    if (stream_ != nullptr) streams.push_back(std::move(stream_));
  }
  watcher_.join();
  for (const auto& stream : streams) {
    stream->Close();
    stream->WaitUntilEnded();
  }
}

std::shared_ptr<RemoteStream> RemoteDataPlane::CurrentStream() {
  MutexLock lock(&mu_);
  if (stream_ == nullptr || stream_->failed()) {
    failed_.erase(std::remove_if(failed_.begin(), failed_.end(), [](const auto& stream) { return stream->ended(); }),
                  failed_.end());
    if (stream_ != nullptr) failed_.push_back(std::move(stream_));
    stream_ = RemoteStream::Start(channel_, options_.address);
  }
  return stream_;
}

void RemoteDataPlane::WatchDeadlines() {
  // Often enough for the shortest deadline to be kept within a tenth.
  const absl::Duration pause = std::max(
      absl::Milliseconds(1), std::min(absl::Seconds(1), std::min(options_.deadline, options_.cancel_deadline) / 10));
  mu_.Lock();
  while (!closing_) {
    closing_changed_.WaitWithTimeout(&mu_, pause);
    std::vector<std::shared_ptr<RemoteStream>> streams = failed_;
    if (stream_ != nullptr) streams.push_back(stream_);
    mu_.Unlock();
    for (const auto& stream : streams) stream->Expire(absl::Now());
    streams.clear();
    mu_.Lock();
  }
  mu_.Unlock();
}

absl::Status RemoteDataPlane::Hello(const RequestHeader& header, HelloReply* reply) {
  struct Result {
    Mutex mu;
    CondVar changed;
    bool done ABSL_GUARDED_BY(mu) = false;
    absl::Status status ABSL_GUARDED_BY(mu);
    HelloReply reply ABSL_GUARDED_BY(mu);
  };
  const auto result = std::make_shared<Result>();
  RemoteStream::Call call;
  call.deadline = absl::Now() + options_.deadline;
  call.patience = options_.deadline;
  call.done = [result](const absl::Status& status, const ByteChain*, const ParsedReply* parsed) {
    MutexLock lock(&result->mu);
    result->status = status.ok() && parsed->kind != Kind::kHello ? WrongKind() : status;
    if (result->status.ok()) result->reply = parsed->hello;
    result->done = true;
    result->changed.SignalAll();
  };
  CurrentStream()->Send(std::move(call), [&](uint64_t id) { return EncodeHello(id, header, options_.token); });
  MutexLock lock(&result->mu);
  while (!result->done) result->changed.WaitWithTimeout(&result->mu, absl::Seconds(1));
  if (result->status.ok()) *reply = result->reply;
  return result->status;
}

void RemoteDataPlane::SendPull(const PullRequest* request, bool lookup, PullWaiting waiting, PullDone done) {
  std::vector<PullRequest> requests = SplitPull(*request, options_.channel.max_message_bytes);
  const auto pull = std::make_shared<PullInParts>(std::move(requests), std::move(done));
  const std::shared_ptr<RemoteStream> stream = CurrentStream();
  for (const PullRequest& part : pull->requests) {
    RemoteStream::Call call;
    call.deadline = absl::Now() + options_.deadline;
    call.patience = options_.deadline;
    call.cancel_key = lookup ? nullptr : request;
    call.waiting = waiting;
    call.done = [pull, &part](absl::Status status, const ByteChain* chain, const ParsedReply* reply) {
      if (status.ok()) status = reply->kind == Kind::kPull ? ScatterPull(*chain, *reply, part) : WrongKind();
      if (pull->parts.End(status)) pull->done(pull->parts.status());
    };
    stream->Send(std::move(call), [&](uint64_t id) { return EncodePull(id, part, lookup, options_.token); });
  }
}

void RemoteDataPlane::Pull(const PullRequest* request, PullWaiting waiting, PullDone done) {
  SendPull(request, /*lookup=*/false, std::move(waiting), std::move(done));
}

void RemoteDataPlane::Lookup(const PullRequest* request, PullDone done) {
  SendPull(request, /*lookup=*/true, nullptr, std::move(done));
}

void RemoteDataPlane::CancelPull(const PullRequest* request) {
  std::vector<std::shared_ptr<RemoteStream>> streams;
  {
    MutexLock lock(&mu_);
    if (stream_ != nullptr) streams.push_back(stream_);
  }
  for (const auto& stream : streams) stream->Cancel(request, absl::Now() + options_.cancel_deadline);
}

void RemoteDataPlane::Push(PushRequest request, PushDone done) {
  absl::StatusOr<std::vector<PushRequest>> split = SplitPush(std::move(request), options_.channel.max_message_bytes);
  if (!split.ok()) return done({split.status(), {}, 0});
  std::vector<size_t> sections;
  for (const PushRequest& part : *split) sections.push_back(part.sections.size());
  const auto push = std::make_shared<PushInParts>(std::move(sections), std::move(done));
  const std::shared_ptr<RemoteStream> stream = CurrentStream();
  const uint32_t parts = split->size() == 1 ? 0 : static_cast<uint32_t>(split->size());
  for (uint32_t i = 0; i < split->size(); ++i) {
    RemoteStream::Call call;
    call.deadline = absl::Now() + options_.deadline;
    call.patience = options_.deadline;
    call.done = [push, i](absl::Status status, const ByteChain* chain, const ParsedReply* reply) {
      if (status.ok() && reply->kind != Kind::kPush) status = WrongKind();
      if (status.ok()) {
        absl::StatusOr<std::vector<SectionOutcome>> outcomes = DecodeOutcomes(*chain, *reply, push->sections[i]);
        status = outcomes.status();
        if (outcomes.ok()) push->outcomes[i] = *std::move(outcomes);
        push->refused_rows[i] = reply->refused_rows;
      }
      if (!push->parts.End(status)) return;
      PushReply whole;
      whole.status = push->parts.status();
      for (size_t k = 0; k < push->sections.size() && whole.status.ok(); ++k) {
        whole.outcomes.insert(whole.outcomes.end(), push->outcomes[k].begin(), push->outcomes[k].end());
        whole.refused_rows += push->refused_rows[k];
      }
      push->done(std::move(whole));
    };
    stream->Send(std::move(call),
                 [&](uint64_t id) { return EncodePush(id, (*split)[i], i, parts, options_.token, &pool_); });
  }
}

}  // namespace rowan
