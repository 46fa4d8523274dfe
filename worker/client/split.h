// Splitting requests that are larger than a message may be: a pull by its keys and blocks, a push by its sections.
#ifndef ROWAN_WORKER_CLIENT_SPLIT_H_
#define ROWAN_WORKER_CLIENT_SPLIT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/data_plane.h"

namespace rowan {

// Pulls that together ask for what `request` does, each with a request and a reply below `max_bytes`. One that fits
// comes back as it is. They point into the request's memory. A row or block that alone is too large is asked for
// alone.
std::vector<PullRequest> SplitPull(const PullRequest& request, int64_t max_bytes);

// The request's sections in shares, each below `max_bytes` on the wire. ResourceExhausted, naming shard and limit, for
// a section that alone is too large.
absl::StatusOr<std::vector<PushRequest>> SplitPush(PushRequest request, int64_t max_bytes);

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_SPLIT_H_
