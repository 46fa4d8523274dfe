// Interrupt: while it lives, the first SIGINT or SIGTERM asks the program to end and the second one ends it at once,
// with exit code 128 + signal.
//
//   rowan::Interrupt interrupt;
//   while (!interrupt.requested()) Step();
//
// At most one lives at a time, made and destroyed by main(); requested(), signal() and WaitFor() are thread-safe and
// need no lock. The handlers that were there before come back when it is destroyed. A signal that the parent ignores
// (a shell's background job) is taken all the same: whoever sends it means it.
#ifndef ROWAN_COMMON_INTERRUPT_H_
#define ROWAN_COMMON_INTERRUPT_H_

#include <signal.h>

#include "absl/time/time.h"

namespace rowan {

class Interrupt {
 public:
  // Dies if another one lives.
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Whether a signal came. Cheap enough for every iteration of a loop.
  bool requested() const { return signal() != 0; }

  // The first signal that came, 0 if none did. A program that it ended exits with 128 + signal.
  int signal() const;

  // Waits until a signal came or `timeout` has passed, in real time; returns requested().
  bool WaitFor(absl::Duration timeout) const;

 private:
  struct sigaction old_int_;
  struct sigaction old_term_;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_INTERRUPT_H_
