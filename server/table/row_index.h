// RowIndex: from a key's hash to the slot of its row, for one table in one shard.
//
// The index does not hold keys: a probe gives candidate slots whose 8-bit fingerprint fits, and the caller compares the
// key in the row's header. Layout: buckets of one cache line,
//
//   bytes 0..11   fingerprints, 0 = free
//   byte  12      how many entries that belong here or before lie further on (stays at 255 once reached)
//   bytes 16..63  slots
//
// An entry lies in the first bucket with a free place, from its home bucket on, cyclically; a probe may stop at the
// first bucket that nothing passed over. The index grows by half when 5/6 of its places are taken: 6.4 to 9.6 bytes a
// row. Not thread-safe: the shard's lock guards it.
#ifndef ROWAN_SERVER_TABLE_ROW_INDEX_H_
#define ROWAN_SERVER_TABLE_ROW_INDEX_H_

#include <emmintrin.h>

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"

namespace rowan {

class RowIndex {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // `hash` below is the key's hash with the shard bits shifted out, so that its top 32 bits are evenly spread.
  RowIndex() = default;
  ~RowIndex();
  RowIndex(const RowIndex&) = delete;
  RowIndex& operator=(const RowIndex&) = delete;

  // Brings the first cache line of a probe near.
  void Prefetch(uint64_t hash) const {
    if (bucket_count_ > 0) __builtin_prefetch(&buckets_[Home(hash)]);
  }

  // The first slot with the fingerprint of `hash`, or kNone. It is the key's own with 95 % probability or more if there
  // is a row: for prefetching; confirm it by the key, and use Find when it is another's.
  uint32_t Candidate(uint64_t hash) const {
    if (bucket_count_ == 0) return kNone;
    const Bucket& bucket = buckets_[Home(hash)];
    const uint32_t match = Match(bucket, Fingerprint(hash));
    if (match != 0) return bucket.slots[__builtin_ctz(match)];
    return bucket.passed == 0 ? kNone : Find(hash, [](uint32_t) { return true; });
  }

  // The slot with this hash for which `is_key(slot)` is true, or kNone.
  template <typename IsKey>
  uint32_t Find(uint64_t hash, IsKey is_key) const {
    if (bucket_count_ == 0) return kNone;
    const uint8_t fingerprint = Fingerprint(hash);
    for (uint64_t b = Home(hash), left = bucket_count_; left > 0; b = Next(b), --left) {
      const Bucket& bucket = buckets_[b];
      for (uint32_t match = Match(bucket, fingerprint); match != 0; match &= match - 1) {
        const uint32_t slot = bucket.slots[__builtin_ctz(match)];
        if (is_key(slot)) return slot;
      }
      if (bucket.passed == 0) break;
    }
    return kNone;
  }

  // Adds an entry. `hash_of(slot)` gives the hash of any slot in the index, for growing.
  // REQUIRES: no entry for the same key.
  void Insert(uint64_t hash, uint32_t slot, absl::FunctionRef<uint64_t(uint32_t)> hash_of);

  // Removes the entry with exactly this slot. Returns false if there is none.
  bool Erase(uint64_t hash, uint32_t slot);

  // Calls `visit(slot)` for every entry, in no particular order.
  void ForEach(absl::FunctionRef<void(uint32_t)> visit) const;

  int64_t size() const { return size_; }
  int64_t allocated_bytes() const { return static_cast<int64_t>(bucket_count_ * sizeof(Bucket)); }

 private:
  static constexpr uint32_t kPlaces = 12;

  struct alignas(64) Bucket {
    uint8_t fingerprints[kPlaces];
    uint8_t passed;
    uint8_t unused[3];
    uint32_t slots[kPlaces];
  };
  static_assert(sizeof(Bucket) == 64, "a bucket is a cache line");

  static uint8_t Fingerprint(uint64_t hash) {
    const uint8_t low = static_cast<uint8_t>(hash >> 24);
    return low == 0 ? 1 : low;
  }
  static uint32_t Match(const Bucket& bucket, uint8_t fingerprint) {
    const __m128i line = _mm_load_si128(reinterpret_cast<const __m128i*>(bucket.fingerprints));
    const __m128i wanted = _mm_set1_epi8(static_cast<char>(fingerprint));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(line, wanted))) & ((1u << kPlaces) - 1);
  }
  uint64_t Home(uint64_t hash) const { return ((hash >> 32) * bucket_count_) >> 32; }
  uint64_t Next(uint64_t b) const { return b + 1 == bucket_count_ ? 0 : b + 1; }

  void Place(uint64_t hash, uint32_t slot);
  void Grow(absl::FunctionRef<uint64_t(uint32_t)> hash_of);

  Bucket* buckets_ = nullptr;
  uint64_t bucket_count_ = 0;  // below 2^32
  int64_t size_ = 0;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_ROW_INDEX_H_
