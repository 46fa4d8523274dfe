// rowan-ctr train --coordinators: one worker of a job whose servers are other processes.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_TRAIN_IN_CLUSTER_H_
#define ROWAN_WORKER_EXAMPLES_CTR_TRAIN_IN_CLUSTER_H_

#include <string>

#include "absl/status/status.h"
#include "common/interrupt.h"

namespace rowan {

// Trains this worker's part by the flags of `train`. Rank 0 tells the story: it shows progress, and evaluates, prints
// and writes the summary once all workers have finished. The model stays on the servers. `started` tells whether work
// has begun: until then what fails is what the user gave.
absl::Status TrainInCluster(const std::string& coordinator, const Interrupt& interrupt, bool* started);

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_TRAIN_IN_CLUSTER_H_
