#include "server/coordinator/job_spec.h"

#include "absl/strings/str_cat.h"
#include "common/data_plane.h"
#include "common/placement.h"

namespace rowan {

absl::Status CheckJobSpec(const proto::JobSpec& spec) {
  if (!proto::JobSpec::Mode_IsValid(spec.mode())) {
    return absl::InvalidArgumentError(absl::StrCat("job mode ", spec.mode(), " is unknown"));
  }
  if (spec.num_ranks() < 1 || spec.num_ranks() >= kFirstToolRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("job with ", spec.num_ranks(), " ranks: must have 1 to ", kFirstToolRank - 1));
  }
  if (!IsValidShardCount(spec.num_shards())) {
    return absl::InvalidArgumentError(
        absl::StrCat("job with ", spec.num_shards(), " shards: must be a power of two, 1 to ", kMaxShards));
  }
  return absl::OkStatus();
}

}  // namespace rowan
