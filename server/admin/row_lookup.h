// One row of one table, asked of its server over the data plane.
#ifndef ROWAN_SERVER_ADMIN_ROW_LOOKUP_H_
#define ROWAN_SERVER_ADMIN_ROW_LOOKUP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/coordinator.pb.h"

namespace rowan {

struct FoundRow {
  std::string outcome;  // "found", "absent", "refused", "spilled"
  std::vector<float> values;
};

// `tool`: the registration of a client outside steps; `server`: an index into its map.
absl::StatusOr<FoundRow> LookUpRow(const proto::RegisterClientReply& tool, uint32_t server, uint32_t table,
                                   uint64_t key, absl::Duration timeout);

}  // namespace rowan

#endif  // ROWAN_SERVER_ADMIN_ROW_LOOKUP_H_
