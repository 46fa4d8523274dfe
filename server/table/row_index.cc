#include "server/table/row_index.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "glog/logging.h"

namespace rowan {
namespace {
constexpr size_t kHugePage = 2 << 20;
}  // namespace

RowIndex::~RowIndex() { std::free(buckets_); }

void RowIndex::Place(uint64_t hash, uint32_t slot) {
  uint64_t b = Home(hash);
  while (true) {
    Bucket& bucket = buckets_[b];
    if (const uint32_t open = Match(bucket, 0); open != 0) {
      const int place = __builtin_ctz(open);
      bucket.fingerprints[place] = Fingerprint(hash);
      bucket.slots[place] = slot;
      return;
    }
    if (bucket.passed < 255) ++bucket.passed;
    b = Next(b);
  }
}

void RowIndex::Grow(absl::FunctionRef<uint64_t(uint32_t)> hash_of) {
  Bucket* const old = buckets_;
  const uint64_t old_count = bucket_count_;
  bucket_count_ = std::max<uint64_t>(old_count + 1, old_count + old_count / 2);
  CHECK_LT(bucket_count_, uint64_t{1} << 32);
  const size_t bytes = bucket_count_ * sizeof(Bucket);
  const size_t alignment = bytes >= kHugePage ? kHugePage : alignof(Bucket);
  buckets_ = static_cast<Bucket*>(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
  CHECK(buckets_ != nullptr) << "no memory for an index of " << bytes << " bytes";
  if (bytes >= kHugePage) madvise(buckets_, bytes, MADV_HUGEPAGE);
  std::memset(static_cast<void*>(buckets_), 0, bytes);
  for (uint64_t b = 0; b < old_count; ++b) {
    for (uint32_t place = 0; place < kPlaces; ++place) {
      if (old[b].fingerprints[place] != 0) Place(hash_of(old[b].slots[place]), old[b].slots[place]);
    }
  }
  std::free(old);
}

void RowIndex::Insert(uint64_t hash, uint32_t slot, absl::FunctionRef<uint64_t(uint32_t)> hash_of) {
  if (static_cast<uint64_t>(size_) * 6 >= bucket_count_ * kPlaces * 5) Grow(hash_of);
  Place(hash, slot);
  ++size_;
}

bool RowIndex::Erase(uint64_t hash, uint32_t slot) {
  if (bucket_count_ == 0) return false;
  const uint8_t fingerprint = Fingerprint(hash);
  const uint64_t home = Home(hash);
  for (uint64_t b = home, left = bucket_count_; left > 0; b = Next(b), --left) {
    Bucket& bucket = buckets_[b];
    for (uint32_t match = Match(bucket, fingerprint); match != 0; match &= match - 1) {
      const int place = __builtin_ctz(match);
      if (bucket.slots[place] != slot) continue;
      bucket.fingerprints[place] = 0;
      for (uint64_t p = home; p != b; p = Next(p)) {
        if (buckets_[p].passed < 255) --buckets_[p].passed;
      }
      --size_;
      return true;
    }
    if (bucket.passed == 0) return false;
  }
  return false;
}

void RowIndex::ForEach(absl::FunctionRef<void(uint32_t)> visit) const {
  for (uint64_t b = 0; b < bucket_count_; ++b) {
    for (uint32_t place = 0; place < kPlaces; ++place) {
      if (buckets_[b].fingerprints[place] != 0) visit(buckets_[b].slots[place]);
    }
  }
}

}  // namespace rowan
