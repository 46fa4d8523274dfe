// ClusterView: what a cluster's coordinator and servers say of a job, read when asked.
#ifndef ROWAN_WORKER_CLIENT_CLUSTER_VIEW_H_
#define ROWAN_WORKER_CLIENT_CLUSTER_VIEW_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rowan {

struct ClusterView {
  int64_t samples = 0;  // pushed by all workers
  int64_t rows = 0;     // of all tables, on all servers
  std::string digest;   // the model's (common/digest.h), exact while no push is being applied
};

// Waits until every worker of the job has finished. The error of one that failed; DeadlineExceeded, naming who has not
// finished, after `deadline`; Cancelled when `stop`, asked a few times a second, says so.
absl::Status WaitForAllWorkers(const std::string& coordinator, absl::Duration deadline,
                               const std::function<bool()>& stop);

// Unavailable if the coordinator or a server does not answer.
absl::StatusOr<ClusterView> ViewCluster(const std::string& coordinator);

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_CLUSTER_VIEW_H_
