// The limits of a job's spec.
#ifndef ROWAN_SERVER_COORDINATOR_JOB_SPEC_H_
#define ROWAN_SERVER_COORDINATOR_JOB_SPEC_H_

#include "absl/status/status.h"
#include "proto/job.pb.h"

namespace rowan {

// InvalidArgument names the field, value and range.
absl::Status CheckJobSpec(const proto::JobSpec& spec);

}  // namespace rowan

#endif  // ROWAN_SERVER_COORDINATOR_JOB_SPEC_H_
