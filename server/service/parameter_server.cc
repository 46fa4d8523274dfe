#include "server/service/parameter_server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "glog/logging.h"
#include "server/service/refusal.h"

namespace rowan {

ParameterServer::ParameterServer(const Options& options, ShardEngine* engine)
    : generation_(options.generation),
      push_checked_(options.push_checked),
      push_taken_(options.push_taken),
      engine_(engine),
      board_(options.job, options.applied) {
  teller_ = std::thread([this] { TellWaiting(); });
}

ParameterServer::~ParameterServer() {
  Stop(absl::CancelledError("the server is shutting down"));
  {
    MutexLock lock(&mu_);
    destroyed_ = true;
    stop_changed_.SignalAll();
  }
  teller_.join();
}

absl::Status ParameterServer::CheckHeader(const RequestHeader& header) {
  ROWAN_RETURN_IF_ERROR(stopped_);
  if (header.generation != generation_) {
    return absl::AbortedError(absl::StrCat("request of generation ", header.generation, " of rank ", header.rank,
                                           ", the job is at generation ", generation_));
  }
  return board_.Admit(header);
}

absl::Status ParameterServer::Hello(const RequestHeader& header, HelloReply* reply) {
  {
    MutexLock lock(&mu_);
    ROWAN_RETURN_IF_ERROR(CheckHeader(header));
    while (AppliesOlder(header)) arriving_changed_.WaitWithTimeout(&mu_, absl::Seconds(1));
    ROWAN_RETURN_IF_ERROR(CheckHeader(header));  // A still newer one may have come.
    *reply = board_.Hello(header.rank);
  }
  Advance();  // Lets go of the pulls of older incarnations.
  return absl::OkStatus();
}

bool ParameterServer::AppliesOlder(const RequestHeader& header) const {
  const auto oldest = arriving_.lower_bound({header.rank, 0});
  return oldest != arriving_.end() && *oldest < RankIncarnation(header.rank, header.incarnation);
}

void ParameterServer::Pull(const PullRequest* request, PullWaiting waiting, PullDone done) {
  std::shared_ptr<Listener> listener;
  if (waiting) {
    listener = std::make_shared<Listener>();
    MutexLock lock(&listener->mu);
    listener->waiting = std::move(waiting);
  }
  absl::Status status;
  {
    MutexLock lock(&mu_);
    status = CheckHeader(request->header);
    if (status.ok() && request->header.rank >= kFirstToolRank) {
      status = absl::FailedPreconditionError("a pull inside steps needs a rank of the job; tools use Lookup");
    }
    if (status.ok() && !request->last) status = board_.CheckPull(request->header.number);
    if (status.ok()) status = board_.Commit(request->header.rank, request->committed, request->last);
    if (status.ok()) waiting_.push_back({request, std::move(listener), done, absl::OkStatus()});
  }
  if (!status.ok()) return done(status);
  Advance();
}

void ParameterServer::Answer(const WaitingPull& pull, const absl::Status& status) {
  if (pull.listener != nullptr) {
    MutexLock lock(&pull.listener->mu);
    pull.listener->waiting = nullptr;
  }
  pull.done(status);
}

void ParameterServer::CancelPull(const PullRequest* request) {
  std::list<WaitingPull> cancelled;
  std::string waited_for;
  {
    MutexLock lock(&mu_);
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (it->request != request) continue;
      waited_for = board_.WaitsFor(request->header.number);
      cancelled.splice(cancelled.end(), waiting_, it);
      break;
    }
  }
  for (const WaitingPull& pull : cancelled) {
    Answer(pull, absl::CancelledError(absl::StrCat("given up while waiting for ", waited_for)));
  }
}

void ParameterServer::Lookup(const PullRequest* request, PullDone done) {
  absl::Status status;
  {
    MutexLock lock(&mu_);
    status = CheckHeader(request->header);
  }
  if (status.ok()) status = engine_->Pull(request->tables, request->dense);
  done(status);
}

void ParameterServer::Push(PushRequest request, PushDone done) {
  absl::Status status;
  bool sync;
  {
    MutexLock lock(&mu_);
    status = CheckHeader(request.header);
    sync = board_.is_sync();
  }
  if (status.ok()) status = engine_->CheckPush(request);
  if (!status.ok()) return done({status, {}, 0});
  if (push_checked_) push_checked_();
  if (sync) {
    PushInSync(std::move(request), std::move(done));
  } else {
    PushOnArrival(request, std::move(done));
  }
}

void ParameterServer::PushInSync(PushRequest request, PushDone done) {
  PushReply reply;
  SectionOutcome outcome = SectionOutcome::kHeld;
  const size_t sections = request.sections.size();
  {
    MutexLock lock(&mu_);
    reply.status = CheckHeader(request.header);  // Again: a newer incarnation may have come since.
    if (reply.status.ok()) reply.status = board_.Offer(request.header, &outcome);
    if (reply.status.ok() && outcome == SectionOutcome::kHeld) {
      CHECK(!applying_);                               // The board holds no push of a step that is being applied.
      std::swap(held_[request.header.rank], request);  // The one that it replaces goes without the lock.
    }
  }
  if (reply.status.ok()) reply.outcomes.assign(sections, outcome);
  done(std::move(reply));
  Advance();
}

void ParameterServer::PushOnArrival(const PushRequest& request, PushDone done) {
  const RankIncarnation sender(request.header.rank, request.header.incarnation);
  PushReply reply;
  {
    MutexLock lock(&mu_);
    reply.status = CheckHeader(request.header);  // Again: a newer incarnation may have come since.
    if (reply.status.ok()) {
      arriving_.insert(sender);
      ++arrivals_begun_;
    }
  }
  if (!reply.status.ok()) return done(std::move(reply));
  if (push_taken_) push_taken_();
  ApplyCounts counts;
  reply.status = engine_->ApplyOnce(request, &reply.outcomes, &counts);
  reply.refused_rows = counts.refused_rows;
  const PushRequest* const pushes[] = {&request};
  Count(counts, pushes);
  {
    MutexLock lock(&mu_);
    arriving_.erase(arriving_.find(sender));
    arriving_changed_.SignalAll();
    if (reply.status.ok()) board_.MarkArrived(request.header.rank, request.header.number);
  }
  done(std::move(reply));
  Advance();
}

void ParameterServer::Count(const ApplyCounts& counts, absl::Span<const PushRequest* const> pushes) {
  ApplyCounts total;
  {
    MutexLock lock(&mu_);
    counts_ += counts;
    total = counts_;
  }
  if (counts.refused_rows > 0 || counts.refused_dense > 0) {
    LOG_EVERY_N(WARNING, 100) << "refused gradients with NaN or infinity: " << DescribeRefusal(*engine_, counts, pushes)
                              << "; " << total.refused_rows << " rows and " << total.refused_dense
                              << " dense parameters so far";
  }
}

std::vector<ParameterServer::WaitingPull> ParameterServer::TakeReadable() {
  std::vector<WaitingPull> readable;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const RequestHeader& header = it->request->header;
    if (!stopped_.ok()) {
      it->status = stopped_;
    } else if (board_.IsFenced(header)) {
      it->status = absl::AbortedError(
          absl::StrCat("rank ", header.rank, " incarnation ", header.incarnation, " was replaced by a later one"));
    } else if (applying_ || !board_.MayRead(header.number)) {
      ++it;
      continue;
    }
    readable.push_back(std::move(*it));
    it = waiting_.erase(it);
  }
  return readable;
}

void ParameterServer::Advance() {
  mu_.Lock();
  while (true) {
    // Pulls come first: those of step t must not see t applied, whenever its pushes came.
    if (std::vector<WaitingPull> readable = TakeReadable(); !readable.empty()) {
      ++answering_;
      mu_.Unlock();
      for (const WaitingPull& pull : readable) {
        Answer(pull, pull.status.ok() ? engine_->Pull(pull.request->tables, pull.request->dense) : pull.status);
      }
      readable.clear();
      mu_.Lock();
      --answering_;
    } else if (applying_ || answering_ > 0 || !stopped_.ok() || !board_.is_sync() || !board_.ReadyToApply()) {
      break;  // Whoever applies or answers looks again afterwards.
    } else {
      applying_ = true;
      board_.BeginApply();
      std::map<uint32_t, PushRequest> pushes = std::exchange(held_, {});
      const uint64_t step = board_.applied();
      mu_.Unlock();
      double weight = 0;
      std::vector<const PushRequest*> in_rank_order;
      for (const auto& [rank, push] : pushes) {
        weight += push.weight;
        in_rank_order.push_back(&push);
      }
      const ApplyCounts counts = engine_->ApplyStep(in_rank_order, weight, step);
      Count(counts, in_rank_order);
      pushes.clear();
      mu_.Lock();
      board_.MarkApplied();
      applying_ = false;
    }
  }
  mu_.Unlock();
}

void ParameterServer::Stop(const absl::Status& status) {
  {
    MutexLock lock(&mu_);
    if (stopped_.ok()) stopped_ = status;
  }
  Advance();
}

bool ParameterServer::ReadBetweenPushes(absl::FunctionRef<void()> read) {
  uint64_t arrivals;
  {
    MutexLock lock(&mu_);
    if (applying_ || !arriving_.empty()) return false;
    arrivals = arrivals_begun_;
    ++answering_;
  }
  read();
  bool undisturbed;
  {
    MutexLock lock(&mu_);
    --answering_;
    undisturbed = arrivals == arrivals_begun_;
  }
  Advance();  // The step that waited for us, if any.
  return undisturbed;
}

uint64_t ParameterServer::applied() const {
  MutexLock lock(&mu_);
  return board_.applied();
}

ApplyCounts ParameterServer::counts() const {
  MutexLock lock(&mu_);
  return counts_;
}

void ParameterServer::TellWaiting() {
  mu_.Lock();
  while (!destroyed_) {
    stop_changed_.WaitWithTimeout(&mu_, absl::Seconds(1));
    std::vector<std::pair<std::shared_ptr<Listener>, std::string>> news;
    for (const WaitingPull& pull : waiting_) {
      if (pull.listener == nullptr) continue;
      news.emplace_back(pull.listener,
                        absl::StrCat("still waiting for ", board_.WaitsFor(pull.request->header.number)));
    }
    mu_.Unlock();
    for (const auto& [listener, what] : news) {
      MutexLock lock(&listener->mu);
      if (listener->waiting) listener->waiting(what);
    }
    news.clear();
    mu_.Lock();
  }
  mu_.Unlock();
}

}  // namespace rowan
