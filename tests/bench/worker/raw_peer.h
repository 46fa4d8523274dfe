// RawPeer: what a transport is measured against: the same number of bytes through a bare socket, from and into user
// memory, without anything that looks at them. As a server of rows would, it sends what lies anywhere in a gigabyte, and
// the client receives into as many buffers as it has calls in flight.
//
// A message is its length (8 bytes), the length wanted of the answer (8 bytes), and bytes. An answer is bytes.
#ifndef ROWAN_TESTS_BENCH_WORKER_RAW_PEER_H_
#define ROWAN_TESTS_BENCH_WORKER_RAW_PEER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "glog/logging.h"

namespace rowan::bench {

inline bool ReadAll(int fd, char* to, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = read(fd, to, bytes);
    if (n <= 0) return false;
    to += n;
    bytes -= n;
  }
  return true;
}

inline bool WriteAll(int fd, const char* from, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = send(fd, from, bytes, MSG_NOSIGNAL);
    if (n <= 0) return false;
    from += n;
    bytes -= n;
  }
  return true;
}

inline void NoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// Listens on 127.0.0.1 (`path` empty) or a Unix socket; sets the port.
inline int RawListen(const std::string& path, uint16_t* port) {
  const int fd = socket(path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK_GE(fd, 0);
  if (path.empty()) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    CHECK_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
    CHECK_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    *port = ntohs(address.sin_port);
  } else {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    CHECK_LT(path.size(), sizeof(address.sun_path));
    std::memcpy(address.sun_path, path.data(), path.size());
    CHECK_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  CHECK_EQ(listen(fd, 8), 0);
  return fd;
}

inline int RawConnect(const std::string& path, uint16_t port) {
  const int fd = socket(path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK_GE(fd, 0);
  if (path.empty()) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    CHECK_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    NoDelay(fd);
  } else {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    CHECK_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  return fd;
}

// Answers one client, out of `rows`, until it leaves.
inline void RawServe(int fd, const std::vector<char>* rows) {
  std::vector<char> in(1);
  uint64_t lengths[2];
  uint64_t at = 0;
  while (ReadAll(fd, reinterpret_cast<char*>(lengths), sizeof(lengths))) {
    if (in.size() < lengths[0]) in.resize(lengths[0]);
    at = (at + (uint64_t{377} << 20)) % (rows->size() - lengths[1]);
    if (!ReadAll(fd, in.data(), lengths[0]) || !WriteAll(fd, rows->data() + at, lengths[1])) break;
  }
  close(fd);
}

// `calls` calls, `in_flight` at a time. A second thread would only be in the way: requests are written between answers.
inline void RawCalls(int fd, int calls, int in_flight, std::vector<char>* request,
                     std::vector<std::vector<char>>* answers) {
  const uint64_t lengths[2] = {request->size() - sizeof(lengths), answers->front().size()};
  std::memcpy(request->data(), lengths, sizeof(lengths));
  int sent = 0;
  for (int received = 0; received < calls; ++received) {
    for (; sent < calls && sent < received + in_flight; ++sent) CHECK(WriteAll(fd, request->data(), request->size()));
    std::vector<char>& answer = (*answers)[received % answers->size()];
    CHECK(ReadAll(fd, answer.data(), answer.size()));
  }
}

}  // namespace rowan::bench

#endif  // ROWAN_TESTS_BENCH_WORKER_RAW_PEER_H_
