// ROWAN_RETURN_IF_ERROR(expr) and ROWAN_ASSIGN_OR_RETURN(lhs, expr): leave a function with the first error.
#ifndef ROWAN_COMMON_STATUS_MACROS_H_
#define ROWAN_COMMON_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define ROWAN_RETURN_IF_ERROR(expr)                         \
  do {                                                      \
    if (::absl::Status rowan_status = (expr); !rowan_status.ok()) return rowan_status; \
  } while (false)

#define ROWAN_MACRO_CONCAT_INNER(a, b) a##b
#define ROWAN_MACRO_CONCAT(a, b) ROWAN_MACRO_CONCAT_INNER(a, b)
#define ROWAN_ASSIGN_OR_RETURN(lhs, expr) \
  ROWAN_ASSIGN_OR_RETURN_IMPL(ROWAN_MACRO_CONCAT(rowan_status_or_, __LINE__), lhs, expr)
#define ROWAN_ASSIGN_OR_RETURN_IMPL(var, lhs, expr) \
  auto var = (expr);                                \
  if (!var.ok()) return std::move(var).status();    \
  lhs = std::move(var).value()

#endif  // ROWAN_COMMON_STATUS_MACROS_H_
