#include "worker/data/prefetcher.h"

#include <atomic>
#include <memory>
#include <set>
#include <vector>

#include "common/hash.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

using Numbers = std::vector<int64_t>;

// Items 0, 1, ..., last - 1, then false.
Prefetcher<Numbers>::Producer CountTo(int64_t last) {
  return [next = int64_t{0}, last](Numbers* item) mutable -> absl::StatusOr<bool> {
    if (next == last) return false;
    item->assign(100, next++);
    return true;
  };
}

TEST(PrefetcherTest, HandsOverAllItemsInOrderThenEnds) {
  for (const int depth : {1, 2, 5}) {
    Prefetcher<Numbers> prefetcher(CountTo(1000), depth);
    Numbers item;
    for (int64_t i = 0; i < 1000; ++i) {
      ASSERT_TRUE(*prefetcher.Get(&item));
      EXPECT_EQ(item, Numbers(100, i));
    }
    EXPECT_FALSE(*prefetcher.Get(&item));
    EXPECT_FALSE(*prefetcher.Get(&item));
  }
}

TEST(PrefetcherTest, GivesTheSameAsTheProducerItself) {
  const Prefetcher<Numbers>::Producer direct = CountTo(50);
  Prefetcher<Numbers> prefetcher(CountTo(50));
  Numbers a, b;
  absl::StatusOr<bool> more_a, more_b;
  do {
    more_a = direct(&a);
    more_b = prefetcher.Get(&b);
    ASSERT_EQ(*more_a, *more_b);
    if (*more_a) {
      EXPECT_EQ(a, b);
    }
  } while (*more_a);
}

TEST(PrefetcherTest, DeliversWhatCameBeforeAnErrorThenTheError) {
  Prefetcher<Numbers> prefetcher([n = 0](Numbers* item) mutable -> absl::StatusOr<bool> {
    if (n == 5) return absl::DataLossError("item 5 is damaged");
    item->assign(1, n++);
    return true;
  });
  Numbers item;
  for (int64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(*prefetcher.Get(&item));
    EXPECT_EQ(item, Numbers(1, i));
  }
  EXPECT_THAT(prefetcher.Get(&item), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("item 5")));
  EXPECT_THAT(prefetcher.Get(&item), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("item 5")));
}

TEST(PrefetcherTest, RunsAheadByItsDepthAndNoFurther) {
  std::atomic<int64_t> produced{0};
  Prefetcher<Numbers> prefetcher(
      [&](Numbers*) -> absl::StatusOr<bool> {
        ++produced;
        return true;
      },
      3);
  Numbers item;
  for (int64_t taken = 1; taken <= 2000; ++taken) {
    ASSERT_TRUE(*prefetcher.Get(&item));
    // In the ring 3 at most, and one waiting for room in it.
    EXPECT_LE(produced, taken + 3 + 1);
  }
}

TEST(PrefetcherTest, CirculatesAFewItems) {
  std::set<const int64_t*> places;
  Prefetcher<Numbers> prefetcher([&places, n = 0](Numbers* item) mutable -> absl::StatusOr<bool> {
    if (n == 200) return false;
    item->assign(100, n++);
    places.insert(item->data());
    return true;
  });
  Numbers item;
  while (*prefetcher.Get(&item)) {
  }
  EXPECT_LE(places.size(), 4u);  // Two ready, one being filled, the caller's.
}

TEST(PrefetcherTest, MayBeDestroyedAtAnyMoment) {
  for (uint64_t round = 0; round < 300; ++round) {
    // Whatever the producer uses must not be touched once the prefetcher is gone.
    auto state = std::make_unique<int64_t>(0);
    {
      Prefetcher<Numbers> prefetcher(
          [&](Numbers* item) -> absl::StatusOr<bool> {
            item->assign(10, ++*state);
            return *state < 20;
          },
          1 + static_cast<int>(round % 3));
      Numbers item;
      for (uint64_t i = 0; i < RandomBits(1, round) % 25; ++i) ASSERT_OK(prefetcher.Get(&item));
    }
    state.reset();
  }
}

}  // namespace
}  // namespace rowan
