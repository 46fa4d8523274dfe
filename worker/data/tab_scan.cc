#include "worker/data/tab_scan.h"

#include <algorithm>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "worker/data/tab_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rowan {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

int FindTabs(const char* line, size_t size, int limit, size_t* tabs) {
  const hn::CappedTag<uint8_t, 64> d;
  const size_t lanes = hn::Lanes(d);
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(line);
  const auto tab = hn::Set(d, '\t');
  int found = 0;
  size_t i = 0;
  const auto add = [&](size_t at, uint64_t skip) {  // Lanes below `skip` were seen before.
    uint64_t bits = 0;
    hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, bytes + at), tab), reinterpret_cast<uint8_t*>(&bits));
    bits &= ~uint64_t{0} << skip;
    for (; bits != 0; bits &= bits - 1) tabs[found++] = at + hwy::Num0BitsBelowLS1Bit_Nonzero64(bits);
  };
  for (; i + lanes <= size && found < limit; i += lanes) add(i, 0);
  if (found < limit && i < size) {
    if (size >= lanes) {
      add(size - lanes, i + lanes - size);
    } else {
      for (; i < size; ++i) {
        if (line[i] == '\t') tabs[found++] = i;
      }
    }
  }
  return std::min(found, limit);
}

}  // namespace HWY_NAMESPACE
}  // namespace rowan
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rowan {

HWY_EXPORT(FindTabs);

int FindTabs(absl::string_view line, int limit, size_t* tabs) {
  return HWY_DYNAMIC_DISPATCH(FindTabs)(line.data(), line.size(), limit, tabs);
}

}  // namespace rowan
#endif  // HWY_ONCE
