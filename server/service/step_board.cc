#include "server/service/step_board.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rowan {

StepBoard::StepBoard(const proto::JobSpec& job, uint64_t applied)
    : job_(job), applied_(applied), ranks_(job.num_ranks()) {
  for (Rank& rank : ranks_) rank.committed = rank.arrived = applied;
}

absl::Status StepBoard::Admit(const RequestHeader& header) {
  if (header.rank >= kFirstToolRank) return absl::OkStatus();
  if (header.rank >= ranks_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", header.rank, ": this job has ranks 0 to ", ranks_.size() - 1));
  }
  Rank& rank = ranks_[header.rank];
  if (header.incarnation < rank.incarnation) {
    return absl::AbortedError(absl::StrCat("rank ", header.rank, " incarnation ", header.incarnation,
                                           " was replaced by incarnation ", rank.incarnation));
  }
  if (header.incarnation > rank.incarnation) {
    rank.incarnation = header.incarnation;
    rank.finished = false;
  }
  return absl::OkStatus();
}

bool StepBoard::IsFenced(const RequestHeader& header) const {
  return header.rank < ranks_.size() && header.incarnation < ranks_[header.rank].incarnation;
}

HelloReply StepBoard::Hello(uint32_t rank) const {
  if (rank >= ranks_.size()) return {applied_, false, 0};
  return {applied_, ranks_[rank].holds, ranks_[rank].committed};
}

absl::Status StepBoard::Commit(uint32_t index, uint64_t committed, bool last) {
  if (index >= ranks_.size()) return absl::OkStatus();
  Rank& rank = ranks_[index];
  if (is_sync() && committed > applied_ + (rank.holds ? 1 : 0)) {
    return absl::FailedPreconditionError(absl::StrCat("rank ", index, " counts its push of step ", committed - 1,
                                                      " as acknowledged, which is not here: step ", applied_,
                                                      " is the next to be applied"));
  }
  rank.committed = std::max(rank.committed, committed);
  rank.finished |= last;
  return absl::OkStatus();
}

absl::Status StepBoard::Offer(const RequestHeader& header, SectionOutcome* outcome) {
  if (header.rank >= ranks_.size()) {
    return absl::FailedPreconditionError("a sync job takes pushes of its ranks' steps only, not bare ones");
  }
  Rank& rank = ranks_[header.rank];
  if (header.number > applied_) {
    return absl::FailedPreconditionError(
        absl::StrCat("rank ", header.rank, " pushed step ", header.number, " before step ", applied_, " was applied"));
  }
  if (header.number < applied_ || (rank.holds && rank.held_incarnation == header.incarnation)) {
    *outcome = SectionOutcome::kDuplicate;
    return absl::OkStatus();
  }
  if (applying_ && !rank.holds) {
    return absl::AbortedError(absl::StrCat("step ", applied_, " is being applied without rank ", header.rank,
                                           ": go on with step ", applied_ + 1));
  }
  if (applying_ || (rank.holds && rank.committed > applied_)) {
    return absl::FailedPreconditionError(absl::StrCat("rank ", header.rank, " incarnation ", header.incarnation,
                                                      " pushed step ", applied_, ", which incarnation ",
                                                      rank.held_incarnation, " has committed"));
  }
  if (rank.finished) {
    return absl::FailedPreconditionError(
        absl::StrCat("rank ", header.rank, " pushed step ", applied_, " after it had finished"));
  }
  rank.holds = true;
  rank.held_incarnation = header.incarnation;
  *outcome = SectionOutcome::kHeld;
  return absl::OkStatus();
}

bool StepBoard::ReadyToApply() const {
  bool any = false;
  for (const Rank& rank : ranks_) {
    if (rank.holds ? rank.committed <= applied_ : !rank.finished) return false;
    any |= rank.holds;
  }
  return any && !applying_;
}

void StepBoard::BeginApply() { applying_ = true; }

void StepBoard::MarkApplied() {
  applying_ = false;
  for (Rank& rank : ranks_) rank.holds = false;
  ++applied_;
}

void StepBoard::MarkArrived(uint32_t index, uint64_t step) {
  if (index >= ranks_.size()) return;
  Rank& rank = ranks_[index];
  if (step < rank.arrived) return;
  rank.ahead.insert(step);
  while (!rank.ahead.empty() && *rank.ahead.begin() == rank.arrived) {
    rank.ahead.erase(rank.ahead.begin());
    ++rank.arrived;
  }
}

absl::Status StepBoard::CheckPull(uint64_t step) const {
  const uint64_t next = applied_ + (applying_ ? 1 : 0);
  if (!is_sync() || step >= next) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("pull of step ", step, ", which is applied: go on with step ", next));
}

bool StepBoard::MayRead(uint64_t step) const {
  switch (job_.mode()) {
    case proto::JobSpec::SYNC:
      return step <= applied_;
    case proto::JobSpec::BOUNDED:
      return std::all_of(ranks_.begin(), ranks_.end(),
                         [&](const Rank& rank) { return rank.finished || rank.arrived + job_.staleness() >= step; });
    default:
      return true;
  }
}

std::string StepBoard::WaitsFor(uint64_t step) const {
  std::vector<std::string> reasons;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = ranks_[i];
    if (is_sync()) {
      if (!rank.holds && !rank.finished) {
        reasons.push_back(absl::StrCat("rank ", i, " (push of step ", applied_, ")"));
      } else if (rank.holds && rank.committed <= applied_) {
        reasons.push_back(absl::StrCat("rank ", i, " (commit of step ", applied_, ")"));
      }
    } else if (!rank.finished && rank.arrived + job_.staleness() < step) {
      reasons.push_back(absl::StrCat("rank ", i, " (push of step ", rank.arrived, ")"));
    }
  }
  return reasons.empty() ? absl::StrCat("step ", applied_, " to be applied") : absl::StrJoin(reasons, ", ");
}

}  // namespace rowan
