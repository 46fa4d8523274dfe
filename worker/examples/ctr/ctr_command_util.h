// What the commands share: exit codes, checks of paths, and the model in a snapshot.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CTR_COMMAND_UTIL_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CTR_COMMAND_UTIL_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/interrupt.h"
#include "common/thread_pool.h"
#include "server/service/local_job.h"
#include "worker/client.h"
#include "worker/examples/ctr/ctr_model.h"

namespace rowan {

// Prints "rowan-ctr COMMAND: message" for an error and returns the exit code: 0 for OK, 128 + signal for Cancelled by
// the interrupt, 2 for what the user gave (wrong, missing, forbidden or damaged) if that was found before the command
// had `started` its work, else 1.
int ExitCode(const std::string& command, const absl::Status& status, bool started, const Interrupt& interrupt);

// Checks that `path` can be created or replaced: InvalidArgument naming flag and path, so that a run does not end in
// vain. An empty path is fine.
absl::Status CheckWritable(const std::string& flag, const std::string& path);
// The same for a directory of snapshots: it exists, or can be made where its parent exists.
absl::Status CheckSnapshotRoot(const std::string& flag, const std::string& path);
// Makes that directory if it is missing.
absl::Status MakeSnapshotRoot(const std::string& flag, const std::string& path);

// "0.7851234", or "undefined" for a value that is empty.
std::string MetricText(absl::optional<double> value);

// The model in the newest complete snapshot of `model_dir`, served in this process for reading. Newer ones that were
// passed over are named on stderr.
struct StoredModel {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<LocalJob> job;
  std::unique_ptr<Client> client;
  std::unique_ptr<CtrModel> model;
  std::string snapshot;  // its directory
};
absl::StatusOr<StoredModel> OpenStoredModel(const std::string& model_dir, int threads);

// The application section of the example's snapshots.
std::map<std::string, std::string> ModelApplication(const proto::CtrModelSpec& spec);

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CTR_COMMAND_UTIL_H_
