// HostId: what tells this host from others: the kernel's boot id. Containers of one host share it.
#ifndef ROWAN_COMMON_HOST_ID_H_
#define ROWAN_COMMON_HOST_ID_H_

#include <string>

namespace rowan {

// Empty where the kernel does not say.
std::string HostId();

// For people: the host's name.
std::string HostName();

}  // namespace rowan

#endif  // ROWAN_COMMON_HOST_ID_H_
