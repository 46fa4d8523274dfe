#include "server/service/data_stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/grpc_status.h"
#include "common/placement.h"
#include "common/status_macros.h"

namespace rowan {
namespace {

using Kind = ParsedRequest::Kind;

// Idle buffers kept for later.
constexpr int64_t kIdleBytes = int64_t{64} << 20;
constexpr uint32_t kMaxParts = 65536;
// A client that reads nothing is told nothing.
constexpr size_t kMaxRepliesBeforeWaiting = 64;
constexpr size_t kAlignment = 64;

constexpr size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

absl::Status TooLarge(absl::string_view what, int64_t bytes, int64_t limit, absl::string_view flag) {
  return absl::ResourceExhaustedError(absl::StrCat(what, " of ", bytes, " bytes, the server's ", flag, " is ", limit));
}

}  // namespace

DataStreamContext::DataStreamContext(DataPlane* plane, DataPlaneSizes sizes, const DataStreamLimits& limits)
    : plane(plane), sizes(std::move(sizes)), limits(limits), pool(kIdleBytes), executor(limits.threads) {}

void DataStreamContext::Begin() {
  MutexLock lock(&mu);
  ++active;
}

void DataStreamContext::End() {
  MutexLock lock(&mu);
  if (--active == 0) idle.SignalAll();
}

void DataStreamContext::WaitUntilIdle() {
  MutexLock lock(&mu);
  while (active > 0) idle.WaitWithTimeout(&mu, absl::Seconds(1));
}

std::shared_ptr<DataStream> DataStream::Start(std::shared_ptr<DataStreamContext> context) {
  std::shared_ptr<DataStream> stream(new DataStream(std::move(context)));
  {
    MutexLock lock(&stream->mu_);
    stream->self_ = stream;
  }
  stream->Proceed();
  return stream;
}

void DataStream::Proceed() {
  const DataStreamLimits& limits = context_->limits;
  mu_.Lock();
  while (!finished_) {
    if (!writing_ && !closed_ && !replies_.empty()) {
      writing_ = true;
      WireMessage message = std::move(replies_.front());
      replies_.pop_front();
      writing_bytes_ = message.size;
      mu_.Unlock();
      write_ = ToByteBuffer(std::move(message));
      StartWrite(&write_);
      mu_.Lock();
    } else if (!reading_ && !closed_ && !read_closed_ && queued_requests_ < limits.max_queued_requests &&
               queued_bytes_ < limits.max_queued_bytes) {
      reading_ = true;
      ++starting_reads_;
      mu_.Unlock();
      StartRead(&read_);
      mu_.Lock();
      --starting_reads_;
    } else if (!writing_ && starting_reads_ == 0 &&
               (closed_ || (read_closed_ && unanswered_ == 0 && replies_.empty()))) {
      finished_ = true;
      const grpc::Status status = status_;
      mu_.Unlock();
      Finish(status);
      return;
    } else {
      break;
    }
  }
  mu_.Unlock();
}

void DataStream::OnReadDone(bool ok) {
  std::shared_ptr<Received> received;
  grpc::Status violation;
  if (ok) {
    received = std::make_shared<Received>(read_);
    read_.Clear();
    absl::StatusOr<ParsedRequest> request = ParseRequest(received->message.chain());
    if (request.ok()) {
      received->request = *std::move(request);
    } else {
      violation = ToGrpcStatus(request.status());
    }
  }
  std::vector<std::shared_ptr<Pull>> waiting;
  std::map<PushKey, PartedPush> unfinished;
  {
    MutexLock lock(&mu_);
    reading_ = false;
    if (!ok) {
      read_closed_ = true;
      waiting = TakeWaiting();
      unfinished = TakeUnfinished();
    } else if (violation.ok()) {
      const ParsedRequest& request = received->request;
      if (request.kind == Kind::kPull || request.kind == Kind::kLookup) {
        auto pull = std::make_shared<Pull>();
        pull->id = request.id;
        if (!pulls_.emplace(request.id, std::move(pull)).second) {
          violation = {grpc::StatusCode::INVALID_ARGUMENT,
                       absl::StrCat("a pull with id ", request.id, " is under way")};
        }
      }
    }
    if (ok && violation.ok()) {
      ++unhandled_;
      ++queued_requests_;
      queued_bytes_ += received->message.chain().size();
      if (received->request.kind != Kind::kCancel) {
        ++unanswered_;
        context_->Begin();
      }
    }
  }
  for (const auto& [key, push] : unfinished)
    AnswerParts(push, absl::CancelledError("the push's other parts never came"));
  CancelAll(waiting);
  if (!violation.ok()) return Close(violation);
  if (ok) context_->executor.Post([self = shared_from_this(), received] { self->Handle(received); });
  Proceed();
}

void DataStream::OnWriteDone(bool) {
  write_.Clear();
  {
    MutexLock lock(&mu_);
    writing_ = false;
    --queued_requests_;
    queued_bytes_ -= writing_bytes_;
  }
  Proceed();
}

void DataStream::OnCancel() { Close(grpc::Status(grpc::StatusCode::CANCELLED, "the client has gone")); }

void DataStream::OnDone() {
  std::shared_ptr<DataStream> self;
  MutexLock lock(&mu_);
  self = std::move(self_);
}

void DataStream::Close(const grpc::Status& status) {
  std::vector<std::shared_ptr<Pull>> waiting;
  std::map<PushKey, PartedPush> unfinished;
  {
    MutexLock lock(&mu_);
    if (!closed_) status_ = status;
    closed_ = true;
    for (const WireMessage& reply : replies_) queued_bytes_ -= reply.size;
    queued_requests_ -= replies_.size();
    replies_.clear();
    waiting = TakeWaiting();
    unfinished = TakeUnfinished();
  }
  for (const auto& [key, push] : unfinished) AnswerParts(push, absl::CancelledError("the stream has ended"));
  CancelAll(waiting);
  Proceed();
}

std::vector<std::shared_ptr<DataStream::Pull>> DataStream::TakeWaiting() {
  std::vector<std::shared_ptr<Pull>> given;
  for (const auto& [id, pull] : pulls_) {
    pull->cancelled = true;
    if (pull->state == Pull::State::kGiven) given.push_back(pull);
  }
  return given;
}

std::map<DataStream::PushKey, DataStream::PartedPush> DataStream::TakeUnfinished() {
  std::map<PushKey, PartedPush> unfinished;
  if (unhandled_ > 0 || !(read_closed_ || closed_)) return unfinished;
  unfinished.swap(parted_);
  parts_bytes_ = 0;
  return unfinished;
}

void DataStream::CancelAll(const std::vector<std::shared_ptr<Pull>>& pulls) {
  for (const std::shared_ptr<Pull>& pull : pulls) context_->plane->CancelPull(&pull->request);
}

void DataStream::Handle(const std::shared_ptr<Received>& received) {
  const ParsedRequest& request = received->request;
  const int64_t bytes = received->message.chain().size();
  if (bytes > context_->limits.max_message_bytes && request.kind != Kind::kCancel) {
    const absl::Status status = TooLarge("a request", bytes, context_->limits.max_message_bytes, "--max_message_bytes");
    std::shared_ptr<Pull> pull;
    {
      MutexLock lock(&mu_);
      if (const auto it = pulls_.find(request.id); it != pulls_.end()) pull = it->second;
    }
    pull != nullptr ? AnswerPull(pull, status) : Reply(EncodeError(request.id, status));
  } else if (request.kind == Kind::kHello) {
    HandleHello(request);
  } else if (request.kind == Kind::kPull || request.kind == Kind::kLookup) {
    HandlePull(*received);
  } else if (request.kind == Kind::kPush && request.parts > 1) {
    HandlePart(*received);
  } else if (request.kind == Kind::kPush) {
    HandlePush(*received);
  } else if (request.kind == Kind::kCancel) {
    Cancel(request.cancelled);
  } else {
    Reply(EncodeError(request.id, absl::UnimplementedError("a request without a body that this server knows")));
  }
  std::map<PushKey, PartedPush> unfinished;
  {
    MutexLock lock(&mu_);
    --unhandled_;
    --queued_requests_;
    queued_bytes_ -= bytes;
    unfinished = TakeUnfinished();
  }
  for (const auto& [key, push] : unfinished)
    AnswerParts(push, absl::CancelledError("the push's other parts never came"));
  Proceed();
}

void DataStream::HandleHello(const ParsedRequest& request) {
  HelloReply reply;
  const absl::Status status = context_->plane->Hello(request.header, &reply);
  Reply(status.ok() ? EncodeHelloReply(request.id, reply) : EncodeError(request.id, status));
}

absl::Status DataStream::PreparePull(const Received& received, Pull* pull) const {
  const ParsedRequest& request = received.request;
  const ByteChain& chain = received.message.chain();
  const DataPlaneSizes& sizes = context_->sizes;
  struct Table {
    size_t keys;
    size_t floats;
  };
  std::vector<Table> tables;
  size_t key_bytes = 0, value_bytes = 0, outcome_bytes = 0;
  for (const ParsedTableKeys& table : request.pull_tables) {
    ROWAN_ASSIGN_OR_RETURN(const size_t width, sizes.table_width(table.table));
    ROWAN_ASSIGN_OR_RETURN(const size_t n, CountWords(table.keys, "pull: keys of table", table.table));
    if (table.wire_type != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("pull from table ", table.table, ": unknown wire type ", table.wire_type));
    }
    if (table.width != 0 && table.width != width) {
      return absl::InvalidArgumentError(
          absl::StrCat("pull from table ", table.table, ": it has width ", width, ", the request says ", table.width));
    }
    tables.push_back({n, n * width});
    key_bytes += n * sizeof(uint64_t);
    value_bytes += Aligned(n * width * sizeof(float));
    outcome_bytes += table.want_outcomes ? n : 0;
  }
  std::vector<std::vector<uint64_t>> blocks;
  std::vector<size_t> dense_sizes;
  for (const ParsedDenseBlocks& dense : request.pull_dense) {
    ROWAN_ASSIGN_OR_RETURN(const size_t size, sizes.dense_size(dense.dense));
    ROWAN_ASSIGN_OR_RETURN(const size_t n, CountWords(dense.blocks, "pull: blocks of dense parameter", dense.dense));
    if (dense.size != 0 && dense.size != size) {
      return absl::InvalidArgumentError(absl::StrCat("pull of dense parameter ", dense.dense, ": it has ", size,
                                                     " floats, the request says ", dense.size));
    }
    std::vector<uint64_t>& numbers = blocks.emplace_back(n);
    chain.Copy(dense.blocks, numbers.data());
    for (const uint64_t block : numbers) {
      if (block >= static_cast<uint64_t>(DenseBlocks(size))) {
        return absl::InvalidArgumentError(
            absl::StrCat("pull of dense parameter ", dense.dense, ": no block ", block, " in ", size, " floats"));
      }
      value_bytes += DenseBlockSize(size, block) * sizeof(float);
    }
    value_bytes += kAlignment;  // at most, between this one and the next
    dense_sizes.push_back(size);
  }
  const size_t reply_bytes = PullReplySizeLimit(tables.size(), blocks.size(), value_bytes + outcome_bytes);
  if (reply_bytes > static_cast<size_t>(context_->limits.max_message_bytes)) {
    return TooLarge("a pull whose reply has a size", reply_bytes, context_->limits.max_message_bytes,
                    "--max_message_bytes");
  }
  pull->bytes = Aligned(key_bytes) + value_bytes + outcome_bytes;
  pull->storage = context_->pool.Take(pull->bytes);
  uint64_t* keys = reinterpret_cast<uint64_t*>(pull->storage.get());
  char* values = pull->storage.get() + Aligned(key_bytes);
  Outcome* outcomes = reinterpret_cast<Outcome*>(values + value_bytes);
  pull->request.header = request.header;
  pull->request.committed = request.committed;
  pull->request.last = request.last;
  for (size_t i = 0; i < tables.size(); ++i) {
    const ParsedTableKeys& parsed = request.pull_tables[i];
    const Table& table = tables[i];
    chain.Copy(parsed.keys, keys);
    TablePull& to = pull->request.tables.emplace_back();
    to.table = parsed.table;
    to.keys = {keys, table.keys};
    to.rows = {reinterpret_cast<float*>(values), table.floats};
    if (parsed.want_outcomes) to.outcomes = {outcomes, table.keys};
    pull->tables.push_back({to.outcomes, to.rows});
    keys += table.keys;
    values += Aligned(table.floats * sizeof(float));
    outcomes += to.outcomes.size();
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    float* const first = reinterpret_cast<float*>(values);
    float* next = first;
    for (const uint64_t block : blocks[i]) {
      const size_t floats = DenseBlockSize(dense_sizes[i], block);
      pull->request.dense.push_back({request.pull_dense[i].dense, block, {next, floats}});
      next += floats;
    }
    pull->dense.push_back({first, static_cast<size_t>(next - first)});
    values += Aligned((next - first) * sizeof(float));
  }
  return absl::OkStatus();
}

void DataStream::HandlePull(const Received& received) {
  std::shared_ptr<Pull> pull;
  absl::Status status;
  {
    MutexLock lock(&mu_);
    pull = pulls_.at(received.request.id);
    if (pull->cancelled) status = absl::CancelledError("given up before it was begun");
  }
  if (status.ok()) status = PreparePull(received, pull.get());
  if (!status.ok()) return AnswerPull(pull, status);
  const auto done = [self = shared_from_this(), pull](const absl::Status& result) { self->AnswerPull(pull, result); };
  if (received.request.kind == Kind::kLookup) return context_->plane->Lookup(&pull->request, done);
  {
    MutexLock lock(&mu_);
    const DataStreamLimits& limits = context_->limits;
    if (waiting_pulls_ > 0 &&
        (waiting_pulls_ >= limits.max_waiting_pulls || waiting_bytes_ + pull->bytes > limits.max_waiting_bytes)) {
      status = absl::ResourceExhaustedError(
          absl::StrCat("a stream with ", waiting_pulls_, " waiting pulls of ", waiting_bytes_, " bytes is full"));
    } else {
      pull->state = Pull::State::kGiving;
      pull->counted = true;
      ++waiting_pulls_;
      waiting_bytes_ += pull->bytes;
    }
  }
  if (!status.ok()) return AnswerPull(pull, status);
  context_->plane->Pull(
      &pull->request, [self = shared_from_this(), pull](const std::string& reason) { self->TellWaiting(pull, reason); },
      done);
  bool cancel;
  {
    MutexLock lock(&mu_);
    pull->state = Pull::State::kGiven;
    cancel = pull->cancelled;
  }
  if (cancel) context_->plane->CancelPull(&pull->request);
}

void DataStream::AnswerPull(const std::shared_ptr<Pull>& pull, const absl::Status& status) {
  WireMessage message =
      status.ok() ? EncodePullReply(pull->id, pull->tables, pull->dense, pull->storage) : EncodeError(pull->id, status);
  {
    MutexLock lock(&mu_);
    pulls_.erase(pull->id);
    if (pull->counted) {
      pull->counted = false;
      --waiting_pulls_;
      waiting_bytes_ -= pull->bytes;
    }
    --unanswered_;
    Queue(std::move(message));
  }
  context_->End();
  Proceed();
}

void DataStream::TellWaiting(const std::shared_ptr<Pull>& pull, const std::string& reason) {
  {
    MutexLock lock(&mu_);
    if (pull->telling) return;
    pull->telling = true;
  }
  // Not here: the caller holds locks of the DataPlane, and writing may take a while.
  context_->executor.Post([self = shared_from_this(), pull, reason] {
    {
      MutexLock lock(&self->mu_);
      pull->telling = false;
      const auto it = self->pulls_.find(pull->id);
      if (it != self->pulls_.end() && it->second == pull && self->replies_.size() < kMaxRepliesBeforeWaiting) {
        self->Queue(EncodeWaiting(pull->id, reason));
      }
    }
    self->Proceed();
  });
}

void DataStream::Cancel(uint64_t pull_id) {
  std::shared_ptr<Pull> given;
  {
    MutexLock lock(&mu_);
    const auto it = pulls_.find(pull_id);
    if (it == pulls_.end()) return;
    it->second->cancelled = true;
    if (it->second->state == Pull::State::kGiven) given = it->second;
  }
  if (given != nullptr) context_->plane->CancelPull(&given->request);
}

void DataStream::HandlePush(const Received& received) {
  const ParsedRequest& request = received.request;
  absl::StatusOr<PushRequest> push = DecodePush(received.message.chain(), request, &context_->pool);
  if (!push.ok()) return Reply(EncodeError(request.id, push.status()));
  const size_t sections = push->sections.size();
  GivePush(*std::move(push), {{request.id, sections}});
}

void DataStream::GivePush(PushRequest push, std::vector<IdAndSections> parts) {
  context_->plane->Push(std::move(push), [self = shared_from_this(), parts = std::move(parts)](const PushReply& reply) {
    absl::Span<const SectionOutcome> outcomes = reply.outcomes;
    for (const IdAndSections& part : parts) {
      if (!reply.status.ok()) {
        self->Reply(EncodeError(part.id, reply.status));
        continue;
      }
      const bool last = &part == &parts.back();
      self->Reply(EncodePushReply(part.id, outcomes.subspan(0, part.sections), last ? reply.refused_rows : 0));
      outcomes.remove_prefix(std::min(part.sections, outcomes.size()));
    }
  });
}

void DataStream::HandlePart(const Received& received) {
  const ParsedRequest& request = received.request;
  const int64_t bytes = received.message.chain().size();
  const PushKey key = {request.header.rank, request.header.incarnation, request.header.number};
  absl::Status status;
  absl::StatusOr<PushRequest> push;
  if (request.part >= request.parts || request.parts > kMaxParts) {
    status = absl::InvalidArgumentError(
        absl::StrCat("a push's part ", request.part, " of ", request.parts, "; at most ", kMaxParts));
  } else {
    push = DecodePush(received.message.chain(), request, &context_->pool);
    status = push.status();
  }
  PartedPush parted;
  bool complete = false;
  {
    MutexLock lock(&mu_);
    PartedPush& pending = parted_[key];
    if (status.ok() && parts_bytes_ + bytes > context_->limits.max_push_bytes) {
      status = TooLarge("a push in parts", parts_bytes_ + bytes, context_->limits.max_push_bytes, "--max_push_bytes");
    }
    // Room for the parts comes with the parts.
    if (status.ok() && pending.parts.size() <= request.part) pending.parts.resize(request.part + 1);
    if (status.ok() && pending.parts[request.part].here) {
      status = absl::InvalidArgumentError(absl::StrCat("a push's part ", request.part, " came twice"));
    }
    if (status.ok()) {
      pending.parts[request.part] = {true, request.id, *std::move(push)};
      pending.bytes += bytes;
      parts_bytes_ += bytes;
      complete = ++pending.received == request.parts;
      if (complete && pending.parts.size() != request.parts) {
        status = absl::InvalidArgumentError("a push's parts disagree about how many there are");
      }
    }
    if (complete || !status.ok()) {
      parted = std::move(pending);
      parts_bytes_ -= parted.bytes;
      parted_.erase(key);
    }
  }
  if (!status.ok()) {
    AnswerParts(parted, status);
    if (!complete) Reply(EncodeError(request.id, status));
    return;
  }
  if (!complete) return;
  PushRequest whole;
  whole.header = request.header;
  whole.weight = request.weight;
  auto storage = std::make_shared<std::vector<std::shared_ptr<const void>>>();
  std::vector<IdAndSections> ids;
  for (Part& part : parted.parts) {
    ids.push_back({part.id, part.push.sections.size()});
    storage->push_back(std::move(part.push.storage));
    whole.refused_dense.insert(whole.refused_dense.end(), part.push.refused_dense.begin(),
                               part.push.refused_dense.end());
    std::move(part.push.sections.begin(), part.push.sections.end(), std::back_inserter(whole.sections));
  }
  whole.storage = std::move(storage);
  GivePush(std::move(whole), std::move(ids));
}

void DataStream::AnswerParts(const PartedPush& push, const absl::Status& status) {
  for (const Part& part : push.parts) {
    if (part.here) Reply(EncodeError(part.id, status));
  }
}

void DataStream::Reply(WireMessage message) {
  {
    MutexLock lock(&mu_);
    --unanswered_;
    Queue(std::move(message));
  }
  context_->End();
  Proceed();
}

void DataStream::Queue(WireMessage message) {
  if (closed_) return;
  ++queued_requests_;
  queued_bytes_ += message.size;
  replies_.push_back(std::move(message));
}

}  // namespace rowan
