#include "worker/data/criteo_features.h"

#include "absl/strings/str_cat.h"
#include "worker/data/signed_log.h"

namespace rowan {
static_assert(Batch::kNumbers == 2 * kCriteoIntegers && Batch::kKeys == kCriteoCategoricals);

CriteoFeatures::CriteoFeatures() {
  for (int i = 1; i <= kCriteoCategoricals; ++i) features_.emplace_back(absl::StrCat("C", i));
}

void CriteoFeatures::Append(const CriteoRow& row, int64_t row_number, Batch* batch) const {
  const int64_t at = batch->size++;
  const auto capacity = static_cast<int64_t>(batch->rows.size());
  batch->labels[at] = static_cast<float>(row.label);
  batch->rows[at] = row_number;
  float* const numbers = &batch->numbers[at * Batch::kNumbers];
  float logs[kCriteoIntegers];
  SignedLogs(row.integers, logs);
  for (int i = 0; i < kCriteoIntegers; ++i) {
    numbers[2 * i] = logs[i];  // 0 if it is missing.
    numbers[2 * i + 1] = static_cast<float>(row.missing >> i & 1);
  }
  uint64_t* keys = &batch->keys[at];
  for (int i = 0; i < kCriteoCategoricals; ++i, keys += capacity) *keys = features_[i].Key(row.categoricals[i]);
}

}  // namespace rowan
