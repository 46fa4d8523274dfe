// RemoteControlPlane: a coordinator in another process, as one worker or tool sees it.
//
// As a worker it sends a heartbeat a second (or three a lease, if that is more often) from a thread that it owns: it
// keeps the rank's lease, reports progress, and learns when the job has failed elsewhere. A worker that is destroyed
// without having reported how it ended has failed: nobody waits for it in vain. Thread-safe.
#ifndef ROWAN_WORKER_CLIENT_REMOTE_CONTROL_PLANE_H_
#define ROWAN_WORKER_CLIENT_REMOTE_CONTROL_PLANE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/control_plane.h"
#include "common/patience.h"
#include "proto/job.pb.h"

namespace rowan {

class RemoteControlPlane final : public ControlPlane {
 public:
  struct Options {
    std::string coordinator;  // HOST:PORT
    // With servers that are missing, and with a coordinator that is: at the start, and later.
    Patience patience = {};
    // Called at most once, in the heartbeat's thread: another rank has failed, or the job was stopped (Cancelled); or
    // the coordinator is lost (Unavailable), or does not know this rank any more (FailedPrecondition). Calls of the
    // data plane that wait are to be given up. Must return at once, and neither report an end nor destroy this object.
    std::function<void(const absl::Status&)> on_failure = nullptr;
  };
  // Does not connect yet. InvalidArgument for a bad address.
  static absl::StatusOr<std::unique_ptr<RemoteControlPlane>> Create(const Options& options);
  // Joins the heartbeat; see above.
  ~RemoteControlPlane() override;

  // Both wait until all servers are there, as the patience says: DeadlineExceeded names what was missing. One worker at
  // most: FailedPrecondition for a second one.
  absl::StatusOr<Registration> RegisterWorker() override;
  absl::StatusOr<Registration> RegisterTool() override;
  absl::StatusOr<OpenedTable> OpenTable(const proto::TableSpec& spec) override;
  absl::StatusOr<OpenedDense> OpenDense(const proto::DenseSpec& spec) override;

  // Noted here, sent with the next heartbeat.
  void ReportProgress(const proto::JobPosition& position);
  // The worker has finished, or has failed: returns when the coordinator knows, or as the patience says. No heartbeat
  // follows. The first report counts. FailedPrecondition if no worker was registered.
  absl::Status ReportFinished();
  absl::Status ReportFailure(const absl::Status& why);

  // What on_failure was told; OK while the job goes on.
  absl::Status failure() const;

 private:
  class Impl;
  explicit RemoteControlPlane(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_REMOTE_CONTROL_PLANE_H_
