#include "server/table/initializer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "common/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/table/targets.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr auto kUniform = proto::Initializer::UNIFORM;
constexpr auto kNormal = proto::Initializer::NORMAL;

SliceInitializer Make(proto::Initializer::Kind kind, float scale, uint64_t seed = 1, int64_t slice = 0,
                      int64_t width = 16) {
  proto::Initializer spec;
  spec.set_kind(kind);
  spec.set_scale(scale);
  return *SliceInitializer::Create(spec, seed, slice, width);
}

std::vector<float> Filled(const SliceInitializer& initializer, uint64_t key) {
  std::vector<float> values(initializer.width() + 1, 7);
  initializer.Fill(key, values.data());
  EXPECT_EQ(values.back(), 7);
  values.pop_back();
  return values;
}

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

// The random bits of an element, from the header's text.
uint32_t ElementBits(uint64_t seed, uint64_t slice, uint64_t key, uint32_t i) {
  const uint64_t state = RandomBits(RandomBits(seed, slice), key);
  uint32_t x = static_cast<uint32_t>(state) + 0x9e3779b9u * (i + 1);
  x ^= x >> 16;
  x *= 0x21f0aaadu;
  x ^= static_cast<uint32_t>(state >> 32);
  x ^= x >> 15;
  x *= 0xd35a2d97u;
  return x ^ (x >> 15);
}

// Computed by a separate program in Python, from the header's text. Scale 0.05.
TEST(InitializerTest, VectorsHoldForEverOnEveryInstructionSet) {
  constexpr int kElements[] = {0, 1, 2, 16, 4095};
  const struct {
    uint64_t seed, slice, key;
    uint32_t uniform[5], normal[5];
  } vectors[] = {
      {0,
       0,
       0,
       {0xbc9bf307, 0xbc0e25e7, 0xbc850f07, 0xbd3ad28b, 0xbc55ba20},
       {0xbccb8709, 0xbc339588, 0xbcaba8de, 0xbdaed1c0, 0xbc8869f8}},
      {1,
       0,
       7,
       {0x3b648780, 0xbcf402dd, 0xbd480557, 0x3ce7b617, 0xbd34c148},
       {0x3db9b606, 0xbd2acead, 0xbde83b72, 0x3ceb458d, 0xbda0552f}},
      {1,
       1,
       7,
       {0xbd10503b, 0x3cfc3a9d, 0xbd07e3d3, 0x3ca3168a, 0x3d0bce10},
       {0xbd565117, 0x3ccd8bc0, 0xbd44d81e, 0x3d2d0954, 0x3ca7783b}},
      {0x123456789abcdef0,
       3,
       uint64_t{1} << 63,
       {0xbc9a14d7, 0x3d18c057, 0xbcc2411d, 0x3d1bd6c7, 0x3d38982a},
       {0xbcc8e20a, 0x3c84c134, 0xbd01f2be, 0x3c793f37, 0x3bcb1c5b}},
      {42,
       0,
       ~uint64_t{0},
       {0x3a3add9a, 0x3b92e873, 0xbba297c0, 0xbc65e767, 0xbcadd8ca},
       {0x3dfaf453, 0x3dadca27, 0xbbcc4ed7, 0xbc932d71, 0xbce55272}},
  };
  testing::ForEachTarget([&] {
    for (const auto& v : vectors) {
      const std::vector<float> uniform = Filled(Make(kUniform, 0.05f, v.seed, v.slice, 4096), v.key);
      const std::vector<float> normal = Filled(Make(kNormal, 0.05f, v.seed, v.slice, 4096), v.key);
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(Bits(uniform[kElements[i]]), v.uniform[i]) << v.key << " element " << kElements[i];
        EXPECT_EQ(Bits(normal[kElements[i]]), v.normal[i]) << v.key << " element " << kElements[i];
      }
    }
  });
}

TEST(InitializerTest, AnElementDoesNotDependOnTheWidthOrTheInstructionSet) {
  for (const auto kind : {kUniform, kNormal}) {
    const std::vector<float> all = Filled(Make(kind, 0.3f, 5, 2, 4096), 99);
    testing::ForEachTarget([&] {
      for (int64_t width = 1; width <= 70; ++width) {
        const std::vector<float> row = Filled(Make(kind, 0.3f, 5, 2, width), 99);
        ASSERT_EQ(std::memcmp(row.data(), all.data(), 4 * width), 0) << width;
      }
      ASSERT_EQ(std::memcmp(Filled(Make(kind, 0.3f, 5, 2, 4096), 99).data(), all.data(), 4 * 4096), 0);
    });
  }
}

TEST(InitializerTest, ADenseParameterDoesNotDependOnItsCutting) {
  const SliceInitializer initializer = Make(kNormal, 0.1f);
  std::vector<float> whole(10000);
  initializer.FillRange(4000, whole.size(), whole.data());
  const std::vector<float> row = Filled(Make(kNormal, 0.1f, 1, 0, 4096), 1);
  EXPECT_TRUE(std::equal(row.begin(), row.end(), whole.begin() + 96));  // The block with key 1.
  for (const int64_t piece : {1, 7, 4096, 4097, 9999}) {
    std::vector<float> cut(whole.size());
    for (int64_t at = 0; at < static_cast<int64_t>(cut.size()); at += piece) {
      initializer.FillRange(4000 + at, std::min<int64_t>(piece, cut.size() - at), cut.data() + at);
    }
    EXPECT_EQ(cut, whole) << piece;
  }
  float far[2];
  initializer.FillRange((uint64_t{1} << 44) - 1, 2, far);  // A 64-bit index is not cut to 32 bits.
  EXPECT_EQ(far[1], Filled(Make(kNormal, 0.1f), uint64_t{1} << 32)[0]);
}

TEST(InitializerTest, ZerosAndConstants) {
  EXPECT_THAT(Filled(Make(proto::Initializer::ZEROS, 3), 1), Each(0.0f));
  EXPECT_THAT(Filled(Make(proto::Initializer::CONSTANT, -1.5f), 1), Each(-1.5f));
}

struct Moments {
  explicit Moments(const std::function<double(int64_t)>& draw, int64_t n) {
    double sum2 = 0, sum4 = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double x = draw(i);
      mean += x / n;
      sum2 += x * x / n;
      sum4 += x * x * x * x / n;
      min = std::min(min, x);
      max = std::max(max, x);
    }
    variance = sum2 - mean * mean;
    kurtosis = sum4 / (sum2 * sum2);
  }
  double mean = 0, variance = 0, kurtosis = 0;
  double min = std::numeric_limits<double>::infinity(), max = -min;
};

TEST(InitializerTest, UniformIsUniform) {
  constexpr int64_t kKeys = 1 << 16;
  const SliceInitializer initializer = Make(kUniform, 2);
  std::vector<float> all(kKeys * 16);
  for (int64_t key = 0; key < kKeys; ++key) initializer.Fill(key, all.data() + key * 16);
  const int64_t n = all.size();
  const Moments moments([&](int64_t i) { return all[i]; }, n);
  EXPECT_NEAR(moments.mean, 0, 5 * std::sqrt(4.0 / 3 / n));
  EXPECT_NEAR(moments.variance, 4.0 / 3, 0.005);
  EXPECT_GE(moments.min, -2);
  EXPECT_LT(moments.max, 2);
  EXPECT_GT(moments.max, 1.9999);
  std::vector<double> buckets(256);
  for (const float x : all) buckets[static_cast<int>((x + 2) * 64)] += 1;
  double chi2 = 0;
  for (const double count : buckets) chi2 += (count - n / 256.0) * (count - n / 256.0) / (n / 256.0);
  EXPECT_NEAR(chi2, 255, 5 * std::sqrt(2 * 255.0));
}

TEST(InitializerTest, NormalIsNormal) {
  constexpr int64_t kKeys = 1 << 16;
  const SliceInitializer initializer = Make(kNormal, 1);
  std::vector<float> all(kKeys * 16);
  for (int64_t key = 0; key < kKeys; ++key) initializer.Fill(key, all.data() + key * 16);
  const int64_t n = all.size();
  const Moments moments([&](int64_t i) { return all[i]; }, n);
  EXPECT_NEAR(moments.mean, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(moments.variance, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(moments.kurtosis, 3, 5 * std::sqrt(24.0 / n));
  for (const double z : {0.1, 1.0, 2.0, 3.0, 4.0}) {
    const double p = std::erfc(z / std::sqrt(2.0)) / 2;
    for (const int sign : {-1, 1}) {
      const int64_t beyond = std::count_if(all.begin(), all.end(), [&](float x) { return sign * x > z; });
      EXPECT_NEAR(beyond, n * p, 5 * std::sqrt(n * p)) << sign * z;
    }
  }
}

TEST(InitializerTest, NormalFollowsTheInverseOfErfc) {
  const SliceInitializer initializer = Make(kNormal, 1, /*seed=*/8);
  for (uint64_t key = 0; key < 20000; ++key) {
    const std::vector<float> row = Filled(initializer, key);
    for (uint32_t i = 0; i < 16; ++i) {
      const uint32_t bits = ElementBits(8, 0, key, i);
      const double p = ((bits & 0x7fffffff) + 0.5) * 0x1p-31;
      // The distance that the error of p makes.
      const double z = std::fabs(row[i]);
      const double slope = std::sqrt(2 / M_PI) * std::exp(-z * z / 2);
      ASSERT_LT(std::fabs(std::erfc(z / std::sqrt(2.0)) - p) / slope, 5e-7 * (1 + z)) << "z " << z;
      ASSERT_EQ(std::signbit(row[i]), bits >> 31 != 0);
    }
  }
}

// Correlation over 2^16 pairs.
double Correlation(const std::function<double(uint64_t)>& a, const std::function<double(uint64_t)>& b) {
  constexpr uint64_t kPairs = 1 << 16;
  double ab = 0, aa = 0, bb = 0;
  for (uint64_t i = 0; i < kPairs; ++i) {
    const double x = a(i), y = b(i);
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

TEST(InitializerTest, NeighboursDoNotCorrelate) {
  constexpr double kLimit = 5.0 / 256;
  for (const auto kind : {kUniform, kNormal}) {
    const auto element = [kind](uint64_t seed, int64_t slice, int i) {
      const SliceInitializer initializer = Make(kind, 1, seed, slice);
      return [initializer, i](uint64_t key) {
        float row[16];
        initializer.Fill(key, row);
        return double{row[i]};
      };
    };
    const auto base = element(1, 0, 0);
    for (const uint64_t distance : {uint64_t{1}, uint64_t{2}, uint64_t{256}, uint64_t{1} << 32, uint64_t{1} << 63}) {
      EXPECT_NEAR(Correlation(base, [&](uint64_t key) { return base(key + distance); }), 0, kLimit) << distance;
    }
    for (const int i : {1, 2, 4, 8, 15}) EXPECT_NEAR(Correlation(base, element(1, 0, i)), 0, kLimit) << i;
    EXPECT_NEAR(Correlation(base, element(1, 1, 0)), 0, kLimit);  // Slice.
    EXPECT_NEAR(Correlation(base, element(2, 0, 0)), 0, kLimit);  // Seed.
    // Magnitudes too: sign flips alone would hide a copy.
    const auto size = [&](uint64_t key) { return base(key) * base(key) - (kind == kUniform ? 1.0 / 3 : 1); };
    EXPECT_NEAR(Correlation(size, [&](uint64_t key) { return size(key + 1); }), 0, kLimit);
  }
}

TEST(InitializerTest, NonsenseIsRefusedByFieldValueAndRange) {
  const auto create = [](proto::Initializer::Kind kind, float scale, int64_t width = 4) {
    proto::Initializer spec;
    spec.set_kind(kind);
    spec.set_scale(scale);
    return SliceInitializer::Create(spec, 1, 0, width).status();
  };
  const auto refused = [](const char* what, const char* range) {
    return StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(what), HasSubstr(range)));
  };
  EXPECT_THAT(create(kUniform, -1), refused("initializer.scale is -1", "UNIFORM takes 0 to 1e+30"));
  EXPECT_THAT(create(kNormal, std::nanf("")), refused("initializer.scale is nan", "NORMAL takes 0 to 1e+30"));
  EXPECT_THAT(create(proto::Initializer::CONSTANT, INFINITY),
              refused("scale is inf", "CONSTANT takes -1e+30 to 1e+30"));
  EXPECT_THAT(create(static_cast<proto::Initializer::Kind>(9), 1), refused("initializer.kind is 9", "0 to 3"));
  EXPECT_THAT(create(kUniform, 1, 0), refused("width is 0", "takes 1 to"));
  EXPECT_OK(create(proto::Initializer::CONSTANT, -1));
}

}  // namespace
}  // namespace rowan
