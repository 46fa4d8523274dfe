// What to say of gradients that were refused for NaN or infinity. Thread-safe: nothing here is shared.
#ifndef ROWAN_SERVER_SERVICE_REFUSAL_H_
#define ROWAN_SERVER_SERVICE_REFUSAL_H_

#include <string>

#include "absl/types/span.h"
#include "common/data_plane.h"
#include "server/table/shard_engine.h"

namespace rowan {

// "table 'ads' key 7 of rank 2 at step 40, dense parameter 'tower' of rank 0 at step 40": the first row and the first
// dense parameter that `pushes` had refused, with the first rank whose own gradient is not finite; "the ranks' sum"
// where only the sum is not. Reads the pushes' gradients. REQUIRES: `counts` comes from applying `pushes` to `engine`.
std::string DescribeRefusal(const ShardEngine& engine, const ApplyCounts& counts,
                            absl::Span<const PushRequest* const> pushes);

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_REFUSAL_H_
