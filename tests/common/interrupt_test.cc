#include "common/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace rowan {
namespace {

void (*HandlerOf(int signal))(int) {
  struct sigaction action;
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

TEST(InterruptTest, NoSignalIsNoRequest) {
  const Interrupt interrupt;
  EXPECT_FALSE(interrupt.requested());
  EXPECT_EQ(interrupt.signal(), 0);
  const absl::Time start = absl::Now();
  EXPECT_FALSE(interrupt.WaitFor(absl::Milliseconds(5)));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(5));
  EXPECT_FALSE(interrupt.WaitFor(-absl::Seconds(1)));
}

TEST(InterruptTest, FirstSignalIsARequest) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Interrupt interrupt;
    ASSERT_FALSE(interrupt.requested());
    raise(signal);
    EXPECT_TRUE(interrupt.requested());
    EXPECT_EQ(interrupt.signal(), signal);
    EXPECT_TRUE(interrupt.WaitFor(absl::InfiniteDuration()));
    EXPECT_TRUE(interrupt.WaitFor(absl::InfiniteDuration()));
  }
}

TEST(InterruptTest, WakesAllWhoWait) {
  const Interrupt interrupt;
  std::atomic<int> woken{0};
  std::atomic<int> ready{0};
  const auto wait = [&] {
    ++ready;
    if (interrupt.WaitFor(absl::InfiniteDuration())) ++woken;
  };
  std::thread first(wait);
  std::thread second(wait);
  while (ready < 2) std::this_thread::yield();
  kill(getpid(), SIGTERM);
  first.join();
  second.join();
  EXPECT_EQ(woken, 2);
}

TEST(InterruptTest, TakesASignalThatTheParentIgnores) {
  signal(SIGINT, SIG_IGN);
  {
    const Interrupt interrupt;
    raise(SIGINT);
    EXPECT_TRUE(interrupt.requested());
  }
  EXPECT_EQ(HandlerOf(SIGINT), SIG_IGN);
  signal(SIGINT, SIG_DFL);
}

TEST(InterruptTest, HandlersComeBack) {
  { const Interrupt interrupt; }
  EXPECT_EQ(HandlerOf(SIGINT), SIG_DFL);
  EXPECT_EQ(HandlerOf(SIGTERM), SIG_DFL);
}

TEST(InterruptDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        const Interrupt interrupt;
        raise(SIGINT);
        raise(SIGTERM);
      },
      ::testing::ExitedWithCode(128 + SIGTERM), "once more ends it at once");
}

TEST(InterruptDeathTest, TwoAtATimeDie) {
  const Interrupt one;
  EXPECT_DEATH(Interrupt(), "two Interrupts");
}

}  // namespace
}  // namespace rowan
