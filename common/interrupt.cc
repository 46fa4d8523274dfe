#include "common/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "absl/time/clock.h"
#include "glog/logging.h"

namespace rowan {
namespace {

// The handler may run in any thread at any time, also while an Interrupt is being destroyed: what it touches lives for
// ever. The pipe holds one byte from the first signal on, so that it stays readable for all who wait.
std::atomic<bool> alive{false};
std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "the handler may not lock");
int pipe_fds[2] = {-1, -1};

void OnSignal(int signal) {
  const int saved_errno = errno;
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, signal)) _exit(128 + signal);
  constexpr char kNote[] = "\ninterrupted: ending; once more ends it at once\n";
  ssize_t ignored = write(STDERR_FILENO, kNote, sizeof(kNote) - 1);
  ignored = write(pipe_fds[1], "", 1);
  (void)ignored;
  errno = saved_errno;
}

}  // namespace

Interrupt::Interrupt() {
  CHECK(!alive.exchange(true)) << "two Interrupts at a time";
  if (pipe_fds[0] < 0) PCHECK(pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) == 0);
  char byte;
  while (read(pipe_fds[0], &byte, 1) == 1) {
  }
  first_signal = 0;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  PCHECK(sigaction(SIGINT, &action, &old_int_) == 0);
  PCHECK(sigaction(SIGTERM, &action, &old_term_) == 0);
}

Interrupt::~Interrupt() {
  PCHECK(sigaction(SIGINT, &old_int_, nullptr) == 0);
  PCHECK(sigaction(SIGTERM, &old_term_, nullptr) == 0);
  alive = false;
}

int Interrupt::signal() const { return first_signal.load(); }

bool Interrupt::WaitFor(absl::Duration timeout) const {
  const absl::Time deadline = absl::Now() + timeout;
  while (!requested()) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) break;
    // Rounded up, so that the last wait does not become a busy one; at most a minute, which fits an int.
    const int64_t milliseconds = absl::ToInt64Milliseconds(std::min(left, absl::Minutes(1))) + 1;
    pollfd readable = {pipe_fds[0], POLLIN, 0};
    poll(&readable, 1, static_cast<int>(milliseconds));
  }
  return requested();
}

}  // namespace rowan
