#include "server/table/gradient_merge.h"

#include <algorithm>

#include "common/hash.h"
#include "server/table/vector_ops.h"

namespace rowan {

void GradientMerge::Reset(int64_t width, int64_t expected) {
  width_ = width;
  sums_.clear();
  copies_.clear();
  size_t places = 16;
  while (places < static_cast<size_t>(expected) * 2) places *= 2;
  places_.assign(places, 0);
}

void GradientMerge::Resize(size_t places) {
  places_.assign(places, 0);
  for (size_t i = 0; i < sums_.size(); ++i) {
    size_t place = sums_[i].hash & (places - 1);
    while (places_[place] != 0) place = (place + 1) & (places - 1);
    places_[place] = static_cast<uint32_t>(i + 1);
  }
}

void GradientMerge::Add(absl::Span<const uint64_t> keys, absl::Span<const uint32_t> occurrences,
                        const float* gradients) {
  for (size_t i = 0; i < keys.size(); ++i, gradients += width_) {
    if ((sums_.size() + 1) * 2 > places_.size()) Resize(places_.size() * 2);
    const uint64_t hash = KeyHash(keys[i]);
    const size_t mask = places_.size() - 1;
    size_t place = hash & mask;
    while (places_[place] != 0 && sums_[places_[place] - 1].key != keys[i]) place = (place + 1) & mask;
    const uint64_t count = occurrences.empty() ? 1 : occurrences[i];
    if (places_[place] == 0) {
      sums_.push_back({hash, keys[i], count, gradients, nullptr});
      places_[place] = static_cast<uint32_t>(sums_.size());
      continue;
    }
    Sum& sum = sums_[places_[place] - 1];
    if (sum.own == nullptr) {
      copies_.emplace_back(sum.gradient, sum.gradient + width_);
      sum.own = copies_.back().data();
      sum.gradient = sum.own;
    }
    AddTo(gradients, width_, sum.own);
    sum.occurrences += count;
  }
}

}  // namespace rowan
