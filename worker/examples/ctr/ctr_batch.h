// CtrBatch: a batch with its keys made distinct: what a step needs before it can pull.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CTR_BATCH_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CTR_BATCH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "worker/client/deduplicator.h"
#include "worker/data/batch.h"

namespace rowan {

struct CtrBatch {
  Batch batch;
  // The distinct keys, column after column: column c has keys [first_key[c], first_key[c + 1]).
  std::vector<uint64_t> keys;                          // (m)
  std::vector<uint32_t> occurrences;                   // (m) samples that use the key
  std::vector<uint32_t> places;                        // (kKeys, n): sample i's key in column c is keys[places[c * n + i]]
  std::array<uint32_t, Batch::kKeys + 1> first_key{};
  absl::Duration read_time;                            // what reading and making distinct took
  absl::Duration deduplicate_time;
};

// Fills everything beside `batch` and the times from `batch`.
void MakeDistinct(Deduplicator* deduplicator, CtrBatch* batch);

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CTR_BATCH_H_
