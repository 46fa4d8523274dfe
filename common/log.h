// Logging: glog, set up by two flags of our own. What is logged goes through <glog/logging.h>.
//
// --log_level=debug|info|warning|error   the least severe messages written; debug adds VLOG(1)
// --log_to=stderr|DIRECTORY              where to; errors go to stderr in any case
//
// No program may define a flag named `v` or `log_dir`: glog has variables of these names.
#ifndef ROWAN_COMMON_LOG_H_
#define ROWAN_COMMON_LOG_H_

#include <string>

#include "absl/status/status.h"
#include "common/flags.h"

namespace rowan {

// The flags above, for a program's table of commands.
FlagGroup LogFlags();

// Sets up glog by the flags, for a program called `name`. The directory of --log_to is made if its parent exists.
// Returns InvalidArgument, naming flag and value, if nothing can be written there. Call it once, after ParseFlags and
// before the first message.
absl::Status InitLogging(const std::string& name);

}  // namespace rowan

#endif  // ROWAN_COMMON_LOG_H_
