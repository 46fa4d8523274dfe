#include "common/host_id.h"

#include <unistd.h>

#include <fstream>

namespace rowan {

std::string HostId() {
  std::string id;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::getline(file, id);
  return id;
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

}  // namespace rowan
