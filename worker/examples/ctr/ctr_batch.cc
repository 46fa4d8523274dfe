#include "worker/examples/ctr/ctr_batch.h"

namespace rowan {

void MakeDistinct(Deduplicator* deduplicator, CtrBatch* batch) {
  const int64_t n = batch->batch.size;
  batch->keys.clear();
  batch->occurrences.clear();
  batch->places.resize(Batch::kKeys * n);
  for (int c = 0; c < Batch::kKeys; ++c) {
    batch->first_key[c] = static_cast<uint32_t>(batch->keys.size());
    deduplicator->Run(batch->batch.Keys(c), &batch->keys, &batch->occurrences,
                      absl::MakeSpan(batch->places).subspan(c * n, n));
  }
  batch->first_key[Batch::kKeys] = static_cast<uint32_t>(batch->keys.size());
}

}  // namespace rowan
