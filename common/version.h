// The version of this tree: what --version prints and what a snapshot records as its writer.
#ifndef ROWAN_COMMON_VERSION_H_
#define ROWAN_COMMON_VERSION_H_

namespace rowan {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace rowan

#endif  // ROWAN_COMMON_VERSION_H_
