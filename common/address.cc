#include "common/address.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace rowan {
namespace {

absl::Status Bad(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("address '", text, "': ", why));
}

absl::Status CannotListen(const Address& address, int error) {
  const std::string message = absl::StrCat("cannot listen on ", address.ToString(), ": ", strerror(error));
  return error == EADDRINUSE ? absl::AlreadyExistsError(message) : absl::UnavailableError(message);
}

absl::Status CheckUnix(const Address& address) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  memcpy(name.sun_path, address.path.data(), address.path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return CannotListen(address, errno);
  // A socket that nobody listens on is left over from a process that died: it may be replaced.
  const int error = connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 ? EADDRINUSE : errno;
  close(fd);
  if (error == ECONNREFUSED || error == ENOENT) {
    const size_t slash = address.path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : address.path.substr(0, slash + 1);
    return access(parent.c_str(), W_OK | X_OK) == 0 ? absl::OkStatus() : CannotListen(address, errno);
  }
  return CannotListen(address, error);
}

}  // namespace

std::string Address::ToString() const {
  if (is_unix()) return absl::StrCat("unix:", path);
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<Address> ParseAddress(absl::string_view text) {
  Address address;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    if (absl::StartsWith(rest, "//")) rest.remove_prefix(2);
    if (rest.empty() || rest.size() >= sizeof(sockaddr_un::sun_path)) {
      return Bad(text, "the path of a Unix socket must have 1 to 107 bytes");
    }
    if (absl::StrContains(rest, '\0')) return Bad(text, "the path of a Unix socket holds a NUL byte");
    address.path = std::string(rest);
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return Bad(text, "must be host:port, [IPv6]:port or unix:PATH");
  absl::string_view host = text.substr(0, colon);
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
  } else if (absl::StrContains(host, ':')) {
    return Bad(text, "an IPv6 address stands in brackets: [::1]:7700");
  }
  if (host.empty() || host.find_first_of("/[]@%? \t\r\n") != absl::string_view::npos) {
    return Bad(text, "must be host:port, [IPv6]:port or unix:PATH");
  }
  uint32_t port = 0;
  if (!absl::SimpleAtoi(text.substr(colon + 1), &port) || port > 65535) {
    return Bad(text, "the port must be an integer from 0 to 65535");
  }
  address.host = std::string(host);
  address.port = static_cast<uint16_t>(port);
  return address;
}

absl::Status CheckCanListen(const Address& address) {
  if (address.is_unix()) return CheckUnix(address);
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int rc = getaddrinfo(address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
  if (rc != 0) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", address.ToString(), ": ", gai_strerror(rc)));
  }
  // One of a host's addresses is enough.
  int error = EADDRNOTAVAIL;
  for (const addrinfo* info = found; info != nullptr && error != 0; info = info->ai_next) {
    const int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);
    const int on = 1;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    error = fd >= 0 && bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, 1) == 0 ? 0 : errno;
    if (fd >= 0) close(fd);
  }
  freeaddrinfo(found);
  return error == 0 ? absl::OkStatus() : CannotListen(address, error);
}

}  // namespace rowan
