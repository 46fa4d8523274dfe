#include "worker/data/byte_scan.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "worker/data/byte_scan.cc"
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

bool IsHexOrTabs(const char* line, size_t size) {
  const hn::CappedTag<uint8_t, 64> d;
  const size_t lanes = hn::Lanes(d);
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(line);
  const auto at_most = [](auto v, auto limit) { return hn::Eq(hn::Min(v, limit), v); };
  const auto good = [&](auto v) {
    const auto digit = at_most(hn::Sub(v, hn::Set(d, '0')), hn::Set(d, 9));
    const auto letter = at_most(hn::Sub(hn::Or(v, hn::Set(d, 0x20)), hn::Set(d, 'a')), hn::Set(d, 5));
    return hn::Or(hn::Or(digit, letter), hn::Eq(v, hn::Set(d, '\t')));
  };
  auto all = hn::Eq(hn::Zero(d), hn::Zero(d));
  size_t i = 0;
  for (; i + lanes <= size; i += lanes) all = hn::And(all, good(hn::LoadU(d, bytes + i)));
  if (i < size) {
    uint8_t rest[64];
    hn::StoreU(hn::Set(d, '\t'), d, rest);
    std::memcpy(rest, bytes + i, size - i);
    all = hn::And(all, good(hn::LoadU(d, rest)));
  }
  return hn::AllTrue(d, all);
}

}  // namespace HWY_NAMESPACE
}  // namespace rowan
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rowan {

HWY_EXPORT(FindTabs);
HWY_EXPORT(IsHexOrTabs);

int FindTabs(absl::string_view line, int limit, size_t* tabs) {
  return HWY_DYNAMIC_DISPATCH(FindTabs)(line.data(), line.size(), limit, tabs);
}

bool IsHexOrTabs(absl::string_view bytes) { return HWY_DYNAMIC_DISPATCH(IsHexOrTabs)(bytes.data(), bytes.size()); }

}  // namespace rowan
#endif  // HWY_ONCE
