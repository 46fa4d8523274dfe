#include "server/service/parameter_server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "glog/logging.h"

namespace rowan {

ParameterServer::ParameterServer(const Options& options, ShardEngine* engine)
    : generation_(options.generation), engine_(engine), board_(options.job, options.applied) {
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
  MutexLock lock(&mu_);
  ROWAN_RETURN_IF_ERROR(CheckHeader(header));
  *reply = board_.Hello(header.rank);
  return absl::OkStatus();
}

void ParameterServer::Pull(const PullRequest* request, PullWaiting waiting, PullDone done) {
  absl::Status status;
  {
    MutexLock lock(&mu_);
    status = CheckHeader(request->header);
    if (status.ok() && request->header.rank >= kFirstToolRank) {
      status = absl::FailedPreconditionError("a pull inside steps needs a rank of the job; tools use Lookup");
    }
    if (status.ok()) {
      board_.Commit(request->header.rank, request->committed, request->last);
      waiting_.push_back({request, std::move(waiting), done});
    }
  }
  if (!status.ok()) return done(status);
  Advance();
}

void ParameterServer::CancelPull(const PullRequest* request) {
  PullDone done;
  std::string waited_for;
  {
    MutexLock lock(&mu_);
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (it->request != request) continue;
      done = std::move(it->done);
      waited_for = board_.WaitsFor(request->header.number);
      waiting_.erase(it);
      break;
    }
  }
  if (done) done(absl::CancelledError(absl::StrCat("given up while waiting for ", waited_for)));
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
    reply.status = board_.Offer(request.header, &outcome);
    // Not while a step is being applied: the push to be replaced would be the very one the engine reads. It cannot
    // happen, since a step is applied only after all its pushes are acknowledged and committed.
    if (reply.status.ok() && outcome == SectionOutcome::kHeld) {
      CHECK(!applying_);
      held_[request.header.rank] = std::move(request);
    }
  }
  if (reply.status.ok()) reply.outcomes.assign(sections, outcome);
  done(std::move(reply));
  Advance();
}

void ParameterServer::PushOnArrival(const PushRequest& request, PushDone done) {
  PushReply reply;
  const absl::StatusOr<ApplyCounts> counts = engine_->ApplyOnce(request, &reply.outcomes);
  reply.status = counts.status();
  if (counts.ok()) {
    reply.refused_rows = counts->refused_rows;
    MutexLock lock(&mu_);
    Count(*counts);
    board_.MarkArrived(request.header.rank, request.header.number);
  } else {
    reply.outcomes.clear();
  }
  done(std::move(reply));
  Advance();
}

void ParameterServer::Count(const ApplyCounts& counts) {
  counts_.updated_rows += counts.updated_rows;
  counts_.born_rows += counts.born_rows;
  counts_.refused_rows += counts.refused_rows;
  counts_.refused_dense += counts.refused_dense;
  if (counts.refused_rows > 0 || counts.refused_dense > 0) {
    LOG_EVERY_N(WARNING, 100) << "refused gradients with NaN or infinity: " << counts_.refused_rows << " rows and "
                              << counts_.refused_dense << " dense parameters so far";
  }
}

void ParameterServer::Advance() {
  while (true) {
    std::vector<WaitingPull> readable;
    mu_.Lock();
    while (!applying_ && stopped_.ok() && board_.is_sync() && board_.ReadyToApply()) {
      applying_ = true;
      const std::map<uint32_t, PushRequest> pushes = std::exchange(held_, {});
      const uint64_t step = board_.applied();
      mu_.Unlock();
      double weight = 0;
      std::vector<const PushRequest*> in_rank_order;
      for (const auto& [rank, push] : pushes) {
        weight += push.weight;
        in_rank_order.push_back(&push);
      }
      const ApplyCounts counts = engine_->ApplyStep(in_rank_order, weight, step);
      mu_.Lock();
      Count(counts);
      board_.MarkApplied();
      applying_ = false;
    }
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (!stopped_.ok() || board_.MayRead(it->request->header.number)) {
        readable.push_back(std::move(*it));
        it = waiting_.erase(it);
      } else {
        ++it;
      }
    }
    mu_.Unlock();
    if (readable.empty()) return;
    for (const WaitingPull& pull : readable) Answer(pull);
  }
}

void ParameterServer::Answer(const WaitingPull& pull) {
  absl::Status status;
  {
    MutexLock lock(&mu_);
    status = stopped_;
  }
  if (status.ok()) status = engine_->Pull(pull.request->tables, pull.request->dense);
  pull.done(status);
}

void ParameterServer::Stop(const absl::Status& status) {
  {
    MutexLock lock(&mu_);
    if (stopped_.ok()) stopped_ = status;
  }
  Advance();
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
    // Told under the lock: a pull that is answered meanwhile would take its callback away. The callbacks only note.
    for (const WaitingPull& pull : waiting_) {
      if (pull.waiting) pull.waiting(absl::StrCat("still waiting for ", board_.WaitsFor(pull.request->header.number)));
    }
  }
  mu_.Unlock();
}

}  // namespace rowan
