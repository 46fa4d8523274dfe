#include "worker/client/fan_out.h"

#include <atomic>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "glog/logging.h"

namespace rowan {
namespace {

absl::Status From(const std::string& server, const absl::Status& status) {
  if (status.ok() || server.empty()) return status;
  return absl::Status(status.code(), absl::StrCat(server, ": ", status.message()));
}

// The answers of a call's parts: the first error, once all are in.
class Gather {
 public:
  Gather(size_t parts, std::function<void(const absl::Status&)> then) : left_(parts), then_(std::move(then)) {
    if (parts == 0) End(absl::OkStatus());
  }

  const std::shared_ptr<Pending::State>& state() const { return state_; }

  // Takes one part's answer. Returns true if it is the first error.
  bool Take(const absl::Status& answer) ABSL_LOCKS_EXCLUDED(mu_) {
    bool first_error = false;
    absl::Status result;
    {
      MutexLock lock(&mu_);
      first_error = result_.ok() && !answer.ok();
      if (first_error) result_ = answer;
      if (--left_ > 0) return first_error;
      result = result_;
    }
    End(result);
    return first_error;
  }

 private:
  void End(const absl::Status& result) {
    if (then_) then_(result);
    state_->Finish(result);
  }

  Mutex mu_;
  size_t left_ ABSL_GUARDED_BY(mu_);
  absl::Status result_ ABSL_GUARDED_BY(mu_);
  const std::function<void(const absl::Status&)> then_;
  const std::shared_ptr<Pending::State> state_ = std::make_shared<Pending::State>();
};

// A pull on its way, alive until all servers have answered.
class PullCall : public std::enable_shared_from_this<PullCall> {
 public:
  PullCall(std::vector<DataPlane*> servers, std::vector<std::string> names, Router::Pulls pulls,
           DataPlane::PullWaiting waiting)
      : servers_(std::move(servers)),
        names_(std::move(names)),
        pulls_(std::move(pulls)),
        waiting_(std::move(waiting)),
        answered_(new std::atomic<bool>[servers_.size()]()),
        gather_(servers_.size(), nullptr) {}

  const std::shared_ptr<Pending::State>& state() const { return gather_.state(); }

  void Start() {
    const auto self = shared_from_this();
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (given_up_) {
        gather_.Take(absl::CancelledError("given up before it was asked"));
        continue;
      }
      servers_[i]->Pull(
          &pulls_.requests[i], [this, i](const std::string& what) { Tell(i, what); },
          [self, i](absl::Status status) { self->Answer(i, status); });
      // Whoever gave up meanwhile may have come too early for this server.
      if (given_up_) servers_[i]->CancelPull(&pulls_.requests[i]);
    }
  }
  void GiveUp() {
    given_up_ = true;
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (!answered_[i]) servers_[i]->CancelPull(&pulls_.requests[i]);
    }
  }

 private:
  void Answer(size_t i, const absl::Status& status) {
    answered_[i] = true;
    if (gather_.Take(From(names_[i], status))) GiveUp();
  }
  void Tell(size_t i, const std::string& what) {
    for (size_t earlier = 0; earlier < i; ++earlier) {
      if (!answered_[earlier]) return;
    }
    if (waiting_) waiting_(names_[i].empty() ? what : absl::StrCat(names_[i], ": ", what));
  }

  const std::vector<DataPlane*> servers_;
  const std::vector<std::string> names_;
  const Router::Pulls pulls_;
  const DataPlane::PullWaiting waiting_;
  const std::unique_ptr<std::atomic<bool>[]> answered_;
  std::atomic<bool> given_up_{false};
  Gather gather_;
};

}  // namespace

FanOut::FanOut(std::vector<DataPlane*> servers, const ShardMap& map, absl::Duration deadline)
    : servers_(std::move(servers)), names_(servers_.size()), deadline_(deadline) {
  CHECK_EQ(servers_.size(), map.servers.size());
  for (size_t i = 0; i < servers_.size() && servers_.size() > 1; ++i) {
    const std::string& tcp = map.servers[i].tcp;
    names_[i] = tcp.empty() ? absl::StrCat("server ", i) : absl::StrCat("server ", i, " (", tcp, ")");
  }
}

absl::Status FanOut::Hello(const RequestHeader& header, std::vector<HelloReply>* replies) const {
  replies->assign(servers_.size(), {});
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (absl::Status status = servers_[i]->Hello(header, &(*replies)[i]); !status.ok()) return From(names_[i], status);
  }
  return absl::OkStatus();
}

Pending FanOut::Pull(Router::Pulls pulls, DataPlane::PullWaiting waiting) const {
  const auto call = std::make_shared<PullCall>(servers_, names_, std::move(pulls), std::move(waiting));
  call->Start();
  return Pending(call->state(), deadline_, [call] { call->GiveUp(); });
}

Pending FanOut::Push(std::vector<PushRequest> pushes, std::function<void(const absl::Status&)> then) const {
  const auto gather = std::make_shared<Gather>(servers_.size(), std::move(then));
  for (size_t i = 0; i < servers_.size(); ++i) {
    servers_[i]->Push(std::move(pushes[i]),
                      [gather, name = names_[i]](const PushReply& reply) { gather->Take(From(name, reply.status)); });
  }
  return Pending(gather->state(), deadline_, nullptr);
}

Pending FanOut::Lookup(Router::Pulls pulls) const {
  struct Call {
    Router::Pulls pulls;
    std::unique_ptr<Gather> gather;
  };
  const auto call = std::make_shared<Call>();
  call->pulls = std::move(pulls);
  std::vector<size_t> asked;
  for (size_t i = 0; i < servers_.size(); ++i) {
    const PullRequest& request = call->pulls.requests[i];
    if (servers_.size() == 1 || !request.tables.empty() || !request.dense.empty()) asked.push_back(i);
  }
  call->gather = std::make_unique<Gather>(asked.size(), nullptr);
  for (const size_t i : asked) {
    servers_[i]->Lookup(&call->pulls.requests[i], [call, name = names_[i]](const absl::Status& status) {
      call->gather->Take(From(name, status));
    });
  }
  return Pending(call->gather->state(), deadline_, nullptr);
}

Pending FanOut::PushBare(std::vector<PushRequest> pushes) const {
  std::vector<size_t> asked;
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (servers_.size() == 1 || !pushes[i].sections.empty()) asked.push_back(i);
  }
  const auto gather = std::make_shared<Gather>(asked.size(), nullptr);
  for (const size_t i : asked) {
    servers_[i]->Push(std::move(pushes[i]),
                      [gather, name = names_[i]](const PushReply& reply) { gather->Take(From(name, reply.status)); });
  }
  return Pending(gather->state(), deadline_, nullptr);
}

}  // namespace rowan
