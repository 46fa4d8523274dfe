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
  rank.incarnation = header.incarnation;
  return absl::OkStatus();
}

HelloReply StepBoard::Hello(uint32_t rank) const {
  if (rank >= ranks_.size()) return {applied_, false, 0};
  return {applied_, ranks_[rank].holds, ranks_[rank].committed};
}

void StepBoard::Commit(uint32_t rank, uint64_t committed, bool last) {
  if (rank >= ranks_.size()) return;
  ranks_[rank].committed = std::max(ranks_[rank].committed, committed);
  ranks_[rank].finished |= last;
}

absl::Status StepBoard::Offer(const RequestHeader& header, SectionOutcome* outcome) {
  if (header.rank >= ranks_.size()) {
    return absl::FailedPreconditionError("a sync job takes pushes of its ranks' steps only, not bare ones");
  }
  Rank& rank = ranks_[header.rank];
  if (header.number > applied_) {
    return absl::FailedPreconditionError(absl::StrCat("rank ", header.rank, " pushed step ", header.number,
                                                      " before step ", applied_, " was applied"));
  }
  if (header.number < applied_ || (rank.holds && rank.held_incarnation == header.incarnation)) {
    *outcome = SectionOutcome::kDuplicate;
    return absl::OkStatus();
  }
  rank.holds = true;
  rank.held_incarnation = header.incarnation;
  *outcome = SectionOutcome::kHeld;
  return absl::OkStatus();
}

bool StepBoard::ReadyToApply() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [this](const Rank& rank) { return rank.holds && rank.committed > applied_; });
}

void StepBoard::MarkApplied() {
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

bool StepBoard::MayRead(uint64_t step) const {
  switch (job_.mode()) {
    case proto::JobSpec::SYNC:
      return step <= applied_;
    case proto::JobSpec::BOUNDED:
      return std::all_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
        return rank.finished || rank.arrived + job_.staleness() >= step;
      });
    default:
      return true;
  }
}

std::string StepBoard::WaitsFor(uint64_t step) const {
  std::vector<std::string> reasons;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = ranks_[i];
    if (is_sync()) {
      if (!rank.holds) {
        reasons.push_back(absl::StrCat("rank ", i, " (push of step ", applied_, ")"));
      } else if (rank.committed <= applied_) {
        reasons.push_back(absl::StrCat("rank ", i, " (commit of step ", applied_, ")"));
      }
    } else if (!rank.finished && rank.arrived + job_.staleness() < step) {
      reasons.push_back(absl::StrCat("rank ", i, " (push of step ", rank.arrived, ")"));
    }
  }
  return absl::StrJoin(reasons, ", ");
}

}  // namespace rowan
