// Addresses of processes: host:port, [IPv6]:port, unix:PATH.
#ifndef ROWAN_COMMON_ADDRESS_H_
#define ROWAN_COMMON_ADDRESS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace rowan {

struct Address {
  std::string host;  // Without brackets; empty for a Unix socket.
  uint16_t port = 0;
  std::string path;  // Of the Unix socket; empty else.

  bool is_unix() const { return !path.empty(); }
  std::string ToString() const;
};

// Returns InvalidArgument, naming `text`, for anything but the forms above. A path has at most 107 bytes.
absl::StatusOr<Address> ParseAddress(absl::string_view text);

// Tries to listen on `address` for a moment. Returns AlreadyExists if another one does, Unavailable with the system's
// reason if it is impossible otherwise, OK if it would work.
absl::Status CheckCanListen(const Address& address);

}  // namespace rowan

#endif  // ROWAN_COMMON_ADDRESS_H_
