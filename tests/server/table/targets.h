// Runs a check once on every instruction set that the kernels were compiled for and this processor has.
#ifndef ROWAN_TESTS_SERVER_TABLE_TARGETS_H_
#define ROWAN_TESTS_SERVER_TABLE_TARGETS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace rowan::testing {

// What is created inside `check` runs on that instruction set. Not thread-safe.
inline void ForEachTarget(absl::FunctionRef<void()> check) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_SERVER_TABLE_TARGETS_H_
