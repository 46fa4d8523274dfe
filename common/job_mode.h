// A job's mode as flags and tools write it: "sync", "bounded:S" (S from 0 to 1000000), "async".
#ifndef ROWAN_COMMON_JOB_MODE_H_
#define ROWAN_COMMON_JOB_MODE_H_

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/job.pb.h"

namespace rowan {

inline constexpr char kJobModes[] = "sync, bounded:S (S from 0 to 1000000) or async";

// Sets mode and staleness of `job`; false, with nothing changed, for text that is none.
inline bool ParseJobMode(absl::string_view text, proto::JobSpec* job) {
  uint32_t staleness = 0;
  if (absl::ConsumePrefix(&text, "bounded:")) {
    if (text.empty() || text.find_first_not_of("0123456789") != text.npos || !absl::SimpleAtoi(text, &staleness) ||
        staleness > 1'000'000) {
      return false;
    }
    job->set_mode(proto::JobSpec::BOUNDED);
  } else if (text == "sync") {
    job->set_mode(proto::JobSpec::SYNC);
  } else if (text == "async") {
    job->set_mode(proto::JobSpec::ASYNC);
  } else {
    return false;
  }
  job->set_staleness(staleness);
  return true;
}

inline std::string JobModeText(const proto::JobSpec& job) {
  if (job.mode() == proto::JobSpec::BOUNDED) return absl::StrCat("bounded:", job.staleness());
  return job.mode() == proto::JobSpec::SYNC ? "sync" : "async";
}

}  // namespace rowan

#endif  // ROWAN_COMMON_JOB_MODE_H_
