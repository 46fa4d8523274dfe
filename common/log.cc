#include "common/log.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "common/flag_rules.h"
#include "glog/logging.h"
#include "glog/vlog_is_on.h"

ABSL_FLAG(std::string, log_level, "info", "The least severe messages that are logged.");
ROWAN_FLAG_CHOICES(log_level, "debug", "info", "warning", "error");
ABSL_FLAG(std::string, log_to, "stderr", "Where messages go: stderr, or a directory.");
ROWAN_FLAG_CHECK(log_to, "stderr or a directory", [](const std::string& value) { return !value.empty(); });

namespace rowan {
namespace {

absl::Status MakeWritable(const std::string& directory) {
  struct stat info;
  if (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
    return absl::InvalidArgumentError(absl::StrCat("--log_to=", directory, ": cannot be made: ", strerror(errno)));
  }
  if (stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("--log_to=", directory, ": must be stderr or a directory"));
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--log_to=", directory, ": cannot be written to: ", strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace

FlagGroup LogFlags() { return {"Logging", {"log_level", "log_to"}}; }

absl::Status InitLogging(const std::string& name) {
  const std::string level = absl::GetFlag(FLAGS_log_level);
  const std::string to = absl::GetFlag(FLAGS_log_to);
  FLAGS_minloglevel = level == "error"     ? google::GLOG_ERROR
                      : level == "warning" ? google::GLOG_WARNING
                                           : google::GLOG_INFO;
  FLAGS_v = level == "debug" ? 1 : 0;
  FLAGS_stderrthreshold = google::GLOG_ERROR;
  FLAGS_logtostderr = to == "stderr";
  if (!FLAGS_logtostderr) {
    absl::Status writable = MakeWritable(to);
    if (!writable.ok()) return writable;
    FLAGS_log_dir = to;
  }
  static const auto* const kept = new std::string(name);  // glog keeps the pointer.
  google::InitGoogleLogging(kept->c_str());
  return absl::OkStatus();
}

}  // namespace rowan
