// The flags of every program that listens: --listen, --advertise, --port_file.
#ifndef ROWAN_COMMON_LISTEN_FLAGS_H_
#define ROWAN_COMMON_LISTEN_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/flags.h"

namespace rowan {

// HOST:PORT or [IPv6]:PORT; port 0 only where one may be chosen.
bool IsTcpAddress(const std::string& text);

// For a program's table of commands.
FlagGroup ListenFlags();

// --listen.
std::string ListenAddress();
// The address that others are told: --advertise, with the port of `bound` where it names none (0), or `bound` itself.
// InvalidArgument if neither says a host that others could reach.
absl::StatusOr<std::string> AdvertisedAddress(absl::string_view bound);
// Prints "NAME listens on BOUND" to stdout, and writes the port and a newline to --port_file, if there is one.
absl::Status AnnouncePort(absl::string_view program, absl::string_view bound);

}  // namespace rowan

#endif  // ROWAN_COMMON_LISTEN_FLAGS_H_
