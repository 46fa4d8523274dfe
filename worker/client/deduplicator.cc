#include "worker/client/deduplicator.h"

#include "common/hash.h"
#include "glog/logging.h"

namespace rowan {

void Deduplicator::Run(absl::Span<const uint64_t> keys, std::vector<uint64_t>* distinct,
                       std::vector<uint32_t>* occurrences, absl::Span<uint32_t> places) {
  CHECK_EQ(keys.size(), places.size());
  CHECK_LT(keys.size(), size_t{1} << 31);
  size_t size = 64;
  while (size < keys.size() * 2) size *= 2;
  if (size > table_.size() || ++round_ == 0) {
    table_.assign(size > table_.size() ? size : table_.size(), Place{0, 0, 0});
    round_ = 1;
  }
  const size_t mask = table_.size() - 1;
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint64_t key = keys[i];
    size_t at = KeyHash(key) & mask;
    while (table_[at].round == round_ && table_[at].key != key) at = (at + 1) & mask;
    Place& place = table_[at];
    if (place.round != round_) {
      place = {key, round_, static_cast<uint32_t>(distinct->size())};
      distinct->push_back(key);
      occurrences->push_back(0);
    }
    ++(*occurrences)[place.index];
    places[i] = place.index;
  }
}

}  // namespace rowan
