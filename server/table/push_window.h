// PushWindow: which pushes of one rank a shard has applied (P8): the highest number and a map of the 64 below it.
#ifndef ROWAN_SERVER_TABLE_PUSH_WINDOW_H_
#define ROWAN_SERVER_TABLE_PUSH_WINDOW_H_

#include <cstdint>

namespace rowan {

class PushWindow {
 public:
  static constexpr uint64_t kBelow = 64;
  enum class Verdict { kNew, kSeen, kTooOld };

  PushWindow() = default;
  PushWindow(uint64_t highest, uint64_t seen) : empty_(false), highest_(highest), seen_(seen) {}

  Verdict Check(uint64_t number) const {
    if (empty_ || number > highest_) return Verdict::kNew;
    if (number == highest_) return Verdict::kSeen;
    const uint64_t below = highest_ - number - 1;
    if (below >= kBelow) return Verdict::kTooOld;
    return (seen_ >> below & 1) != 0 ? Verdict::kSeen : Verdict::kNew;
  }

  // REQUIRES: Check(number) == kNew.
  void Mark(uint64_t number) {
    if (empty_) {
      highest_ = number;
      empty_ = false;
    } else if (number > highest_) {
      const uint64_t by = number - highest_;
      seen_ = by > kBelow ? 0 : (by == kBelow ? 0 : seen_ << by) | uint64_t{1} << (by - 1);
      highest_ = number;
    } else {
      seen_ |= uint64_t{1} << (highest_ - number - 1);
    }
  }

  bool empty() const { return empty_; }
  uint64_t highest() const { return highest_; }
  // Bit i: number highest - 1 - i was applied.
  uint64_t seen() const { return seen_; }

 private:
  bool empty_ = true;
  uint64_t highest_ = 0;
  uint64_t seen_ = 0;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_PUSH_WINDOW_H_
