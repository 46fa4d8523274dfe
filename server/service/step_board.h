// StepBoard: what one server knows of every rank's steps, and when a pull may be answered and a step applied.
//
// A passive state machine without locks, threads or data, so that the rules of consistency can be read and tested in
// one place (design: P1 to P5). Three modes:
//   sync     a push of step t is held; t is applied when the push of t and the commit of t of every rank that has not
//            finished are here; a pull of step t is answered once t-1 is applied, and before t is.
//   bounded  pushes are applied on arrival; a pull of step t waits until every rank that has not finished has had its
//            pushes of all steps < t - s applied.
//   async    nothing waits.
// Not thread-safe.
#ifndef ROWAN_SERVER_SERVICE_STEP_BOARD_H_
#define ROWAN_SERVER_SERVICE_STEP_BOARD_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/data_plane.h"
#include "proto/job.pb.h"

namespace rowan {

class StepBoard {
 public:
  // Starts at step `applied`, for a job that goes on from a snapshot.
  StepBoard(const proto::JobSpec& job, uint64_t applied);

  uint64_t applied() const { return applied_; }
  bool is_sync() const { return job_.mode() == proto::JobSpec::SYNC; }

  // Aborted for an incarnation older than the newest seen of the rank; InvalidArgument for a rank the job has not.
  // A newer incarnation fences the older ones from here on.
  absl::Status Admit(const RequestHeader& header);
  // Whether a newer incarnation of the rank has come since.
  bool IsFenced(const RequestHeader& header) const;
  HelloReply Hello(uint32_t rank) const;

  // The rank's pushes of all steps < `committed` are acknowledged everywhere; `last`: no push of this incarnation will
  // follow, so nobody waits for one. Sync: FailedPrecondition if one of those pushes is not here.
  absl::Status Commit(uint32_t rank, uint64_t committed, bool last);

  // Sync. What to do with a push of `step`: kHeld (new, or in place of the one held for an older incarnation),
  // kDuplicate (applied already, or held already for this incarnation), or FailedPrecondition for a step that cannot
  // come yet, for one that the rank has committed with another push, and from a rank that has finished. Aborted while
  // the step is applied without this rank.
  absl::Status Offer(const RequestHeader& header, SectionOutcome* outcome);
  // Sync. Whether step applied() has at least one push, and all pushes and commits that will come.
  bool ReadyToApply() const;
  // Sync. The pushes of step applied() are being applied and stay as they are. REQUIRES: ReadyToApply().
  void BeginApply();
  // Sync. They were: the next step begins.
  void MarkApplied();

  // Bounded and async. The rank's push of `step` was applied, or seen before.
  void MarkArrived(uint32_t rank, uint64_t step);

  // Aborted, naming the step to go on from, for a pull whose view is gone: in sync mode one of a step that is applied.
  absl::Status CheckPull(uint64_t step) const;
  // Whether a pull of `step` may read now.
  bool MayRead(uint64_t step) const;
  // Why it may not: "rank 3 (push of step 17)".
  std::string WaitsFor(uint64_t step) const;

 private:
  struct Rank {
    uint32_t incarnation = 0;  // newest seen
    bool finished = false;     // this incarnation
    uint64_t committed = 0;
    bool holds = false;  // sync: a push of step applied_ is held
    uint32_t held_incarnation = 0;
    uint64_t arrived = 0;      // bounded: pushes of all steps < arrived are applied
    std::set<uint64_t> ahead;  // bounded: applied ones beyond that
  };

  const proto::JobSpec job_;
  uint64_t applied_;
  bool applying_ = false;  // sync: between BeginApply and MarkApplied
  std::vector<Rank> ranks_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_STEP_BOARD_H_
