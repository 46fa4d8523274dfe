#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/hash.h"
#include "gtest/gtest.h"
#include "server/table/optimizer.h"
#include "tests/server/table/targets.h"

namespace rowan {
namespace {

// Magnitudes from 2^-40 to 2^7, one in 16 zero: the same on every machine.
float Gradient(uint64_t seed, uint64_t i) {
  const uint64_t bits = RandomBits(seed, i);
  if (bits % 16 == 0) return 0;
  const float mantissa = 1 + static_cast<float>(bits >> 41) * 0x1p-23f;
  return std::ldexp(bits & 16 ? mantissa : -mantissa, static_cast<int>((bits >> 8) % 47) - 40);
}

// The bytes of values and state after 100 pushes, unaligned for vectors, at every width to 70 and a few more.
std::string TrainedBytes(proto::Optimizer::Kind kind) {
  proto::Optimizer spec;
  spec.set_kind(kind);
  if (kind == proto::Optimizer::FTRL) spec.set_l1(1e-3f);
  std::string bytes;
  for (int64_t width = 1; width <= 100; width += width < 70 ? 1 : 10) {
    const SliceOptimizer optimizer = *SliceOptimizer::Create(spec, width);
    std::vector<float> gradient(width + 1), block(1 + width + optimizer.state_floats());
    float* values = block.data() + 1;
    for (int64_t i = 0; i < width; ++i) values[i] = 0.01f * Gradient(1, i) / 128;
    optimizer.InitState(values + width);
    for (int64_t update = 1; update <= 100; ++update) {
      for (int64_t i = 0; i < width; ++i) gradient[i + 1] = Gradient(update, i);
      optimizer.Update(gradient.data() + 1, update, values, values + width);
    }
    bytes.append(reinterpret_cast<const char*>(values), (width + optimizer.state_floats()) * sizeof(float));
  }
  return bytes;
}

// FROZEN: these hashes say that training gives what it always gave. They hold for every instruction set, compiler and
// build mode.
TEST(OptimizerBitsTest, EveryInstructionSetGivesTheSameBits) {
  const struct {
    proto::Optimizer::Kind kind;
    uint64_t hash;
  } expected[] = {
      {proto::Optimizer::SGD, 0xd2705f34bb2a8d78},
      {proto::Optimizer::ADAGRAD, 0x95652ae504563897},
      {proto::Optimizer::ROW_WISE_ADAGRAD, 0x9066cf63b8a1bba3},
      {proto::Optimizer::ADAM, 0x94d4c7fe97fc1631},
      {proto::Optimizer::FTRL, 0x2641aa0f52815b7e},
  };
  int targets = 0;
  testing::ForEachTarget([&] {
    ++targets;
    for (const auto& e : expected) {
      EXPECT_EQ(BytesHash(0, TrainedBytes(e.kind)), e.hash) << proto::Optimizer::Kind_Name(e.kind);
    }
  });
#if HWY_ARCH_X86
  EXPECT_GE(targets, 2);  // Scalar, and SSSE3 or better.
#endif
}

}  // namespace
}  // namespace rowan
