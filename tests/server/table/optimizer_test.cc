#include "server/table/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/table/reference_optimizer.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::ReferenceRow;
using ::rowan::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

constexpr proto::Optimizer::Kind kKinds[] = {proto::Optimizer::SGD, proto::Optimizer::ADAGRAD,
                                             proto::Optimizer::ROW_WISE_ADAGRAD, proto::Optimizer::ADAM,
                                             proto::Optimizer::FTRL};

proto::Optimizer Spec(proto::Optimizer::Kind kind) {
  proto::Optimizer spec;
  spec.set_kind(kind);
  return spec;
}

// The defaults of optimizer.h's table, written out.
proto::Optimizer Defaults(proto::Optimizer::Kind kind) {
  proto::Optimizer spec = Spec(kind);
  spec.set_learning_rate(kind == proto::Optimizer::SGD ? 0.1f : kind == proto::Optimizer::ADAM ? 1e-3f : 0.05f);
  const bool adagrad = kind == proto::Optimizer::ADAGRAD || kind == proto::Optimizer::ROW_WISE_ADAGRAD;
  if (adagrad) spec.set_epsilon(1e-15f);
  if (kind == proto::Optimizer::ADAM) {
    spec.set_epsilon(1e-10f);
    spec.set_beta1(0.9f);
    spec.set_beta2(0.999f);
  }
  if (kind == proto::Optimizer::FTRL) spec.set_beta(1e-10f);
  return spec;
}

// A row's slice and how often it was pushed.
struct Row {
  Row(const proto::Optimizer& spec, std::vector<float> initial)
      : optimizer(*SliceOptimizer::Create(spec, initial.size())), values(initial), state(optimizer.state_floats(), -7) {
    optimizer.InitState(state.data());
  }
  void Update(const std::vector<float>& gradient) {
    optimizer.Update(gradient.data(), ++updates, values.data(), state.data());
  }

  const SliceOptimizer optimizer;
  std::vector<float> values, state;
  int64_t updates = 0;
};

// Magnitudes from 1e-12 to 1e2, a tenth zero.
float RandomGradient(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  if (uniform(random) < 0.1) return 0;
  const double magnitude = std::pow(10, -12 + 14 * uniform(random));
  return uniform(random) < 0.5 ? magnitude : -magnitude;
}

void ExpectFollowsReference(const proto::Optimizer& spec, const proto::Optimizer& full) {
  std::mt19937_64 random(11);
  for (const int64_t width : {1, 3, 4, 5, 16, 17, 64, 100}) {
    SCOPED_TRACE(full.ShortDebugString() + " width " + std::to_string(width));
    std::vector<float> initial(width), gradient(width);
    for (float& value : initial) value = std::uniform_real_distribution<float>(-0.1f, 0.1f)(random);
    Row row(spec, initial);
    ReferenceRow reference(full, initial);
    std::vector<double> largest(width, 0.1);
    for (int step = 0; step < 1000; ++step) {
      for (int64_t i = 0; i < width; ++i) gradient[i] = i % 7 == 2 ? 0 : RandomGradient(random);
      row.Update(gradient);
      reference.Update(gradient);
      for (int64_t i = 0; i < width; ++i) {
        largest[i] = std::max(largest[i], std::fabs(reference.w[i]));
        ASSERT_NEAR(row.values[i], reference.w[i], 1e-5 * largest[i]) << "element " << i << " step " << step;
      }
    }
  }
}

TEST(OptimizerTest, DefaultsFollowTheDoublePrecisionReference) {
  for (const auto kind : kKinds) ExpectFollowsReference(Spec(kind), Defaults(kind));
}

TEST(OptimizerTest, OtherRatesFollowTheDoublePrecisionReference) {
  proto::Optimizer sgd = Defaults(proto::Optimizer::SGD);
  sgd.set_learning_rate(2.5f);
  proto::Optimizer adagrad = Defaults(proto::Optimizer::ADAGRAD);
  adagrad.set_learning_rate(0.3f);
  adagrad.set_initial_accumulator(0.01f);
  adagrad.set_epsilon(1e-3f);
  proto::Optimizer row_wise = adagrad;
  row_wise.set_kind(proto::Optimizer::ROW_WISE_ADAGRAD);
  proto::Optimizer adam = Defaults(proto::Optimizer::ADAM);
  adam.set_learning_rate(0.02f);
  adam.set_beta1(0.5f);
  adam.set_beta2(0.95f);
  adam.set_epsilon(1e-4f);
  proto::Optimizer ftrl = Defaults(proto::Optimizer::FTRL);
  ftrl.set_learning_rate(0.2f);
  ftrl.set_initial_accumulator(0.1f);
  ftrl.set_l1(0.5f);
  ftrl.set_l2(0.25f);
  ftrl.set_beta(1.0f);
  for (const auto& spec : {sgd, adagrad, row_wise, adam, ftrl}) ExpectFollowsReference(spec, spec);
}

TEST(OptimizerTest, SgdByHand) {
  proto::Optimizer spec = Spec(proto::Optimizer::SGD);
  spec.set_learning_rate(0.5f);
  Row row(spec, {1, 2});
  row.Update({4, -8});
  EXPECT_THAT(row.values, ElementsAre(-1, 6));
  EXPECT_EQ(row.optimizer.state_floats(), 0);
}

TEST(OptimizerTest, AdagradByHand) {
  proto::Optimizer spec = Spec(proto::Optimizer::ADAGRAD);
  spec.set_learning_rate(0.5f);
  spec.set_epsilon(0);
  Row row(spec, {1, 1});
  row.Update({3, 0});
  EXPECT_THAT(row.values, ElementsAre(0.5f, 1));
  row.Update({4, -2});
  EXPECT_THAT(row.values, ElementsAre(FloatEq(0.1f), 1.5f));
  EXPECT_THAT(row.state, ElementsAre(25, 4));
}

TEST(OptimizerTest, RowWiseAdagradByHand) {
  proto::Optimizer spec = Spec(proto::Optimizer::ROW_WISE_ADAGRAD);
  spec.set_learning_rate(2.5f);
  spec.set_epsilon(0);
  Row row(spec, {1, 1});
  row.Update({1, 7});  // Mean square 25.
  EXPECT_THAT(row.values, ElementsAre(0.5f, -2.5f));
  EXPECT_THAT(row.state, ElementsAre(25));
}

TEST(OptimizerTest, FtrlByHand) {
  proto::Optimizer spec = Spec(proto::Optimizer::FTRL);
  spec.set_learning_rate(0.5f);
  spec.set_beta(1);
  spec.set_l1(1);
  spec.set_l2(2);
  Row row(spec, {0, 0});
  row.Update({3, -0.5f});  // z = 3: -(3 - 1) / ((1 + 3) / 0.5 + 2); |z| = 0.5 is below l1.
  EXPECT_THAT(row.values, ElementsAre(-0.2f, 0));
  row.Update({4, 0});  // z = 3 + 4 + 4 x 0.2 = 7.8: -6.8 / ((1 + 5) / 0.5 + 2)
  EXPECT_THAT(row.values, ElementsAre(FloatEq(-6.8f / 14), 0));
  EXPECT_THAT(row.state, ElementsAre(FloatEq(7.8f), -0.5f, 25, 0.25f));
}

TEST(OptimizerTest, FtrlWithoutRegularizationIsAdagrad) {
  proto::Optimizer ftrl = Spec(proto::Optimizer::FTRL), adagrad = Spec(proto::Optimizer::ADAGRAD);
  for (auto* spec : {&ftrl, &adagrad}) spec->set_initial_accumulator(0.1f);
  ftrl.set_beta(0);
  Row a(ftrl, {0.25f, -0.5f, 0}), b(adagrad, {0.25f, -0.5f, 0});
  std::mt19937_64 random(3);
  for (int step = 0; step < 100; ++step) {
    const std::vector<float> gradient = {RandomGradient(random), RandomGradient(random), RandomGradient(random)};
    a.Update(gradient);
    b.Update(gradient);
    for (int i = 0; i < 3; ++i) ASSERT_NEAR(a.values[i], b.values[i], 1e-5) << "step " << step;
  }
}

TEST(OptimizerTest, FtrlKeepsTheInitialValues) {
  proto::Optimizer spec = Spec(proto::Optimizer::FTRL);
  spec.set_initial_accumulator(0.1f);
  spec.set_l1(0.01f);
  spec.set_l2(3);
  Row row(spec, {0.25f, -0.5f});
  row.Update({0, 0});
  EXPECT_THAT(row.values, ElementsAre(FloatEq(0.25f), FloatEq(-0.5f)));
}

TEST(OptimizerTest, LazyAdamCorrectsByTheRowsOwnCount) {
  const proto::Optimizer spec = Spec(proto::Optimizer::ADAM);
  Row busy(spec, {0}), late(spec, {0});
  for (int step = 0; step < 1000; ++step) busy.Update({1e-6f});
  late.Update({1e-6f});
  EXPECT_NEAR(busy.values[0], -1.0, 1e-3);
  EXPECT_NEAR(late.values[0], -1e-3, 1e-6);  // A whole step, although the table is old.
  const float before = late.values[0];
  late.Update({-3e-6f});  // m' = (0.9 x 0.1 - 0.1 x 3) / 0.19, v' = (0.999 + 9) / 1.999
  EXPECT_NEAR(late.values[0] - before, -1e-3 * (-0.21 / 0.19) / std::sqrt(9.999 / 1.999), 1e-6);
}

TEST(OptimizerTest, AdamsCorrectionHoldsForEveryCount) {
  const BetaPower power(0.999999);
  for (const int64_t t :
       {int64_t{1}, int64_t{15}, int64_t{16}, int64_t{17}, int64_t{4096}, int64_t{1234567}, (int64_t{1} << 32) - 1}) {
    const double exact = std::pow(0.999999, t);
    EXPECT_NEAR(power(t), exact, 1e-9 * exact) << t;
  }
  EXPECT_EQ(BetaPower(0)(1), 0);
}

TEST(OptimizerTest, DefaultsDoNotBendTheSmallestMedianGradients) {
  for (const auto kind : kKinds) {
    if (kind == proto::Optimizer::SGD) continue;
    const float rate = Defaults(kind).learning_rate();
    for (const float gradient : {1e-6f, 4e-8f, -4e-8f}) {
      Row row(Spec(kind), std::vector<float>(17, 0));
      row.Update(std::vector<float>(17, gradient));
      for (const float value : row.values) {
        EXPECT_NEAR(value, gradient > 0 ? -rate : rate, 0.01 * rate) << proto::Optimizer::Kind_Name(kind);
      }
    }
  }
}

TEST(OptimizerTest, ZeroGradientsOnZeroAccumulatorsChangeNoValue) {
  for (const auto kind : kKinds) {
    proto::Optimizer spec = Spec(kind);
    if (spec.kind() == proto::Optimizer::FTRL) spec.set_beta(0);
    if (Defaults(kind).has_epsilon()) spec.set_epsilon(0);
    Row row(spec, {0.5f, -0.25f, 0, 1, 2, 3});
    const std::vector<float> state = row.state;
    for (int step = 0; step < 3; ++step) row.Update(std::vector<float>(6, 0));
    EXPECT_THAT(row.values, ElementsAre(0.5f, -0.25f, 0, 1, 2, 3)) << spec.ShortDebugString();
    EXPECT_EQ(row.state, state) << spec.ShortDebugString();
  }
}

TEST(OptimizerTest, SquaresSaturateInsteadOfPoisoningTheRow) {
  for (const auto kind : kKinds) {
    Row row(Spec(kind), std::vector<float>(5, 0.5f));
    for (int step = 0; step < 4; ++step) row.Update({1e30f, -1e30f, 1e20f, 3e19f, 0});
    row.Update(std::vector<float>(5, 1e-3f));
    for (const float value : row.values) EXPECT_TRUE(std::isfinite(value)) << proto::Optimizer::Kind_Name(kind);
    for (const float value : row.state) EXPECT_TRUE(std::isfinite(value)) << proto::Optimizer::Kind_Name(kind);
  }
}

TEST(OptimizerTest, TheStateStartsAtTheInitialAccumulator) {
  proto::Optimizer spec = Spec(proto::Optimizer::ADAGRAD);
  spec.set_initial_accumulator(0.5f);
  EXPECT_THAT(Row(spec, {0, 0}).state, ElementsAre(0.5f, 0.5f));
  spec.set_kind(proto::Optimizer::ROW_WISE_ADAGRAD);
  EXPECT_THAT(Row(spec, {0, 0}).state, ElementsAre(0.5f));
  spec.set_kind(proto::Optimizer::FTRL);
  EXPECT_THAT(Row(spec, {0, 0}).state, ElementsAre(0, 0, 0.5f, 0.5f));
  EXPECT_THAT(Row(Spec(proto::Optimizer::ADAM), {0, 0}).state, ElementsAre(0, 0, 0, 0));
}

TEST(OptimizerTest, NothingOutsideTheRowIsTouched) {
  for (const auto kind : kKinds) {
    for (int64_t width = 1; width <= 70; ++width) {
      const SliceOptimizer optimizer = *SliceOptimizer::Create(Spec(kind), width);
      const int64_t s = optimizer.state_floats();
      // Exactly as large as the row, so that the address sanitizer sees reads too.
      const std::vector<float> gradient(width, 1);
      std::vector<float> values(width + 2, 7), state(s + 2, 7);
      optimizer.InitState(state.data() + 1);
      optimizer.Update(gradient.data(), 1, values.data() + 1, state.data() + 1);
      ASSERT_THAT((std::vector<float>{values[0], values[width + 1], state[0], state[s + 1]}), ElementsAre(7, 7, 7, 7));
      ASSERT_NE(values[width], 7);
    }
  }
}

struct Refusal {
  absl::string_view field, value, range;
  proto::Optimizer spec;
};

template <typename Set>
Refusal Refuse(absl::string_view field, absl::string_view value, absl::string_view range, proto::Optimizer::Kind kind,
               Set set) {
  proto::Optimizer spec = Spec(kind);
  set(spec);
  return {field, value, range, spec};
}

TEST(OptimizerTest, NonsenseIsRefusedByFieldValueAndRange) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  using proto::Optimizer;
  const Refusal refusals[] = {
      Refuse("learning_rate", "nan", "0 to 1e+09", Optimizer::SGD, [](Optimizer& s) { s.set_learning_rate(kNan); }),
      Refuse("learning_rate", "-0.5", "0 to", Optimizer::ADAM, [](Optimizer& s) { s.set_learning_rate(-0.5f); }),
      Refuse("learning_rate", "inf", "0 to", Optimizer::ADAGRAD, [](Optimizer& s) { s.set_learning_rate(kInfinity); }),
      Refuse("learning_rate", "0", "1e-09 to", Optimizer::FTRL, [](Optimizer& s) { s.set_learning_rate(0); }),
      Refuse("initial_accumulator", "-1", "0 to 1e+30", Optimizer::ROW_WISE_ADAGRAD,
             [](Optimizer& s) { s.set_initial_accumulator(-1); }),
      Refuse("epsilon", "-1e-08", "0 to", Optimizer::ADAGRAD, [](Optimizer& s) { s.set_epsilon(-1e-8f); }),
      Refuse("beta1", "1", "0 to 0.999999", Optimizer::ADAM, [](Optimizer& s) { s.set_beta1(1); }),
      Refuse("beta2", "nan", "0 to 0.999999", Optimizer::ADAM, [](Optimizer& s) { s.set_beta2(kNan); }),
      Refuse("l1", "-2", "0 to 1e+30", Optimizer::FTRL, [](Optimizer& s) { s.set_l1(-2); }),
      Refuse("l2", "inf", "0 to 1e+30", Optimizer::FTRL, [](Optimizer& s) { s.set_l2(kInfinity); }),
      Refuse("beta", "-1", "0 to 1e+09", Optimizer::FTRL, [](Optimizer& s) { s.set_beta(-1); }),
      Refuse("beta1", "0.9", "SGD has no such field", Optimizer::SGD, [](Optimizer& s) { s.set_beta1(0.9f); }),
      Refuse("epsilon", "0.5", "FTRL has no such field", Optimizer::FTRL, [](Optimizer& s) { s.set_epsilon(0.5f); }),
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_THAT(
        SliceOptimizer::Create(refusal.spec, 4),
        StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("optimizer." + std::string(refusal.field) +
                                                                     " is " + std::string(refusal.value) + ": "),
                                                           HasSubstr(std::string(refusal.range)))));
  }
  EXPECT_THAT(SliceOptimizer::Create(Spec(Optimizer::SGD), 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("width is 0")));
  proto::Optimizer unknown;
  unknown.set_kind(static_cast<Optimizer::Kind>(99));
  EXPECT_THAT(SliceOptimizer::Create(unknown, 4),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("optimizer.kind is 99")));
}

}  // namespace
}  // namespace rowan
