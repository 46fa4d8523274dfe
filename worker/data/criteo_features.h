// CriteoFeatures: from a parsed row to what the model takes in.
//
// Numbers, 26: for I1 to I13 in turn its value on a logarithmic scale (signed_log.h) and whether it is missing:
// SignedLog(x), 0 for an integer x; 0, 1 for a missing one, which is thus a state of its own.
// Keys, 26: of C1 to C26, rowan::Key("C1", its characters as they stand in the file), see common/key.h; an empty field
// has the key of the empty string. "0A" and "0a" are two ids.
#ifndef ROWAN_WORKER_DATA_CRITEO_FEATURES_H_
#define ROWAN_WORKER_DATA_CRITEO_FEATURES_H_

#include <cstdint>
#include <vector>

#include "common/key.h"
#include "worker/data/batch.h"
#include "worker/data/criteo.h"

namespace rowan {

// Immutable, so any number of threads may use it.
class CriteoFeatures {
 public:
  CriteoFeatures();

  // Appends one sample. REQUIRES: batch->Begin was called, and size is below its capacity.
  void Append(const CriteoRow& row, int64_t row_number, Batch* batch) const;

 private:
  std::vector<Feature> features_;  // C1..C26.
};

}  // namespace rowan

#endif  // ROWAN_WORKER_DATA_CRITEO_FEATURES_H_
