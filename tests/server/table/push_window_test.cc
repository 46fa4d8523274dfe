#include "server/table/push_window.h"

#include <algorithm>
#include <random>
#include <set>

#include "gtest/gtest.h"

namespace rowan {
namespace {

using Verdict = PushWindow::Verdict;

Verdict Expected(const std::set<uint64_t>& applied, uint64_t number) {
  if (applied.count(number) > 0 && *applied.rbegin() - number <= PushWindow::kBelow) return Verdict::kSeen;
  if (!applied.empty() && number < *applied.rbegin() && *applied.rbegin() - number > PushWindow::kBelow) {
    return Verdict::kTooOld;
  }
  return Verdict::kNew;
}

TEST(PushWindowTest, AppliesEachNumberOnceAndAdmitsWhatItCannotTell) {
  for (const uint64_t base : {uint64_t{0}, uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0} - 4000}) {
    for (const uint64_t reach : {1, 3, 63, 64, 65, 66, 200}) {
      std::mt19937_64 random(base + reach);
      PushWindow window;
      EXPECT_TRUE(window.empty());
      std::set<uint64_t> applied;
      uint64_t front = base;
      for (int op = 0; op < 3000; ++op) {
        front += random() % 3 == 0 ? random() % (op % 100 == 0 ? reach + 1 : 3) : 0;
        if (front - base > 3900) break;
        const uint64_t number = front - std::min(front - base, random() % (reach + 1));
        const Verdict expected = Expected(applied, number);
        ASSERT_EQ(window.Check(number), expected) << number - base << " after " << *applied.rbegin() - base;
        if (expected == Verdict::kNew) {
          window.Mark(number);
          applied.insert(number);
          ASSERT_EQ(window.Check(number), Verdict::kSeen);
        }
        if (op % 10 == 0) window = PushWindow(window.highest(), window.seen());  // As a snapshot keeps it.
      }
    }
  }
}

TEST(PushWindowTest, TheLargestNumbersAreLegal) {
  PushWindow window;
  window.Mark(~uint64_t{0});
  EXPECT_EQ(window.Check(~uint64_t{0}), Verdict::kSeen);
  EXPECT_EQ(window.Check(~uint64_t{0} - 64), Verdict::kNew);
  EXPECT_EQ(window.Check(~uint64_t{0} - 65), Verdict::kTooOld);
  EXPECT_EQ(window.Check(0), Verdict::kTooOld);
}

TEST(PushWindowTest, AJumpForgetsWhatFallsOut) {
  for (const uint64_t jump : {63, 64, 65, 1000000}) {
    PushWindow window;
    window.Mark(0);
    window.Mark(jump);
    EXPECT_EQ(window.Check(0), jump <= 64 ? Verdict::kSeen : Verdict::kTooOld) << jump;
    EXPECT_EQ(window.Check(jump - 1), Verdict::kNew) << jump;
    EXPECT_EQ(window.Check(jump), Verdict::kSeen) << jump;
  }
}

}  // namespace
}  // namespace rowan
