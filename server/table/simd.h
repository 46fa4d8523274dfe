// Which instruction set a kernel runs on, decided once instead of at every call.
#ifndef ROWAN_SERVER_TABLE_SIMD_H_
#define ROWAN_SERVER_TABLE_SIMD_H_

#include "hwy/targets.h"

namespace rowan {

// Makes Highway look at the processor if it has not yet.
inline void ChooseSimdTarget() {
  hwy::ChosenTarget& chosen = hwy::GetChosenTarget();
  if (!chosen.IsInitialized()) chosen.Update(hwy::SupportedTargets());
}

}  // namespace rowan

// A pointer to the best version of a function that HWY_EXPORT named in the same file.
#define ROWAN_BEST_KERNEL(function) (::rowan::ChooseSimdTarget(), &HWY_DYNAMIC_DISPATCH(function))

#endif  // ROWAN_SERVER_TABLE_SIMD_H_
