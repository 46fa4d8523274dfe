// RandomId: a number that no other process has.
#ifndef ROWAN_COMMON_RANDOM_ID_H_
#define ROWAN_COMMON_RANDOM_ID_H_

#include <cstdint>
#include <random>

namespace rowan {

// Drawn from the system; never 0.
inline uint64_t RandomId() {
  std::random_device device;
  uint64_t id = 0;
  while (id == 0) id = (uint64_t{device()} << 32) ^ device();
  return id;
}

}  // namespace rowan

#endif  // ROWAN_COMMON_RANDOM_ID_H_
