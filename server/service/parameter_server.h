// ParameterServer: one server's data plane. Holds pushes, applies steps, answers pulls when the job's mode allows.
//
// A waiting pull holds no thread: it is a record, answered by the thread whose request made it readable. One thread of
// the server tells waiting pulls once a second what they wait for. Requests are worked on in the calling thread and the
// engine's pool. Thread-safe. mu_ is never held while the engine works, a callback runs, memory of a push is freed or
// anything is logged.
#ifndef ROWAN_SERVER_SERVICE_PARAMETER_SERVER_H_
#define ROWAN_SERVER_SERVICE_PARAMETER_SERVER_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "common/data_plane.h"
#include "common/mutex.h"
#include "proto/job.pb.h"
#include "server/service/step_board.h"
#include "server/table/shard_engine.h"

namespace rowan {

class ParameterServer final : public DataPlane {
 public:
  struct Options {
    proto::JobSpec job;
    uint64_t generation = 1;
    uint64_t applied = 0;  // steps applied before this server started, from a snapshot
    // For tests, called in the pushing thread: between a push's checks and its being taken, and (bounded and async)
    // between that and its being applied.
    std::function<void()> push_checked = nullptr;
    std::function<void()> push_taken = nullptr;
  };

  // `engine` outlives the server.
  ParameterServer(const Options& options, ShardEngine* engine);
  // Answers all waiting pulls with Cancelled and joins the server's thread.
  ~ParameterServer() override;

  // Waits while pushes of older incarnations are being applied: after the answer none of them changes anything.
  absl::Status Hello(const RequestHeader& header, HelloReply* reply) override ABSL_LOCKS_EXCLUDED(mu_);
  void Pull(const PullRequest* request, PullWaiting waiting, PullDone done) override ABSL_LOCKS_EXCLUDED(mu_);
  void CancelPull(const PullRequest* request) override ABSL_LOCKS_EXCLUDED(mu_);
  void Push(PushRequest request, PushDone done) override ABSL_LOCKS_EXCLUDED(mu_);
  void Lookup(const PullRequest* request, PullDone done) override ABSL_LOCKS_EXCLUDED(mu_);

  // Refuses every request from now on with this status, the waiting ones too: how a job that cannot go on lets go of
  // the ranks that wait for it. The first call counts.
  void Stop(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);

  // Calls `read` between two steps: in sync mode no step is applied meanwhile. False if pushes were, or are being,
  // applied meanwhile, so that what was read is of no moment. Must not be called by `read`.
  bool ReadBetweenPushes(absl::FunctionRef<void()> read) ABSL_LOCKS_EXCLUDED(mu_);

  // Sync: steps applied so far.
  uint64_t applied() const ABSL_LOCKS_EXCLUDED(mu_);
  // Sums over all steps so far.
  ApplyCounts counts() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Whom to tell what a pull waits for. `mu` is held while telling, so that nothing is told once the pull is answered;
  // it is taken without mu_.
  struct Listener {
    Mutex mu;
    PullWaiting waiting ABSL_GUARDED_BY(mu);  // null once the pull is answered
  };
  struct WaitingPull {
    const PullRequest* request;
    std::shared_ptr<Listener> listener;  // null if nobody asks
    PullDone done;
    absl::Status status;  // of the answer, if it is not OK
  };
  using RankIncarnation = std::pair<uint32_t, uint32_t>;

  absl::Status CheckHeader(const RequestHeader& header) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Applies the steps that are complete and answers the pulls that may read.
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);
  // Moves the pulls that may be answered now out of waiting_.
  std::vector<WaitingPull> TakeReadable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PushInSync(PushRequest request, PushDone done) ABSL_LOCKS_EXCLUDED(mu_);
  void PushOnArrival(const PushRequest& request, PushDone done) ABSL_LOCKS_EXCLUDED(mu_);
  static void Answer(const WaitingPull& pull, const absl::Status& status);
  bool AppliesOlder(const RequestHeader& header) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Count(const ApplyCounts& counts, absl::Span<const PushRequest* const> pushes) ABSL_LOCKS_EXCLUDED(mu_);
  void TellWaiting() ABSL_LOCKS_EXCLUDED(mu_);

  const uint64_t generation_;
  const std::function<void()> push_checked_;
  const std::function<void()> push_taken_;
  ShardEngine* const engine_;
  mutable Mutex mu_;
  CondVar stop_changed_;
  StepBoard board_ ABSL_GUARDED_BY(mu_);
  std::map<uint32_t, PushRequest> held_ ABSL_GUARDED_BY(mu_);  // sync: pushes of step board_.applied(), by rank
  std::list<WaitingPull> waiting_ ABSL_GUARDED_BY(mu_);
  // Sync: no step is applied while pulls read, none reads while one is applied.
  bool applying_ ABSL_GUARDED_BY(mu_) = false;  // one thread is inside ApplyStep
  int64_t answering_ ABSL_GUARDED_BY(mu_) = 0;  // threads that answer pulls, or read between pushes
  // Bounded and async: pushes that have begun to be applied so far.
  uint64_t arrivals_begun_ ABSL_GUARDED_BY(mu_) = 0;
  // Bounded and async: who sent the pushes that are being applied.
  std::multiset<RankIncarnation> arriving_ ABSL_GUARDED_BY(mu_);
  CondVar arriving_changed_;
  absl::Status stopped_ ABSL_GUARDED_BY(mu_);  // not OK once Stop was called
  bool destroyed_ ABSL_GUARDED_BY(mu_) = false;
  ApplyCounts counts_ ABSL_GUARDED_BY(mu_);
  std::thread teller_;  // joined by the destructor
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_PARAMETER_SERVER_H_
