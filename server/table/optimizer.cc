#include "server/table/optimizer.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace rowan {
namespace {

using proto::Optimizer;

constexpr float kMaxRate = 1e9f;
constexpr float kMaxBeta = 1 - 1e-6f;
constexpr float kMaxSquare = 1e30f;

// Reads the optional fields of one spec against their ranges.
class Fields {
 public:
  explicit Fields(Optimizer::Kind kind) : kind_(kind) {}

  // The field's value, or `fallback` if it is not set. Outside [min, max], NaN included, is an error.
  float Read(absl::string_view field, bool set, float value, float fallback, float min, float max) {
    if (!set) return fallback;
    if (!(value >= min && value <= max)) {
      Fail(absl::StrCat("optimizer.", field, " is ", value, ": ", Optimizer::Kind_Name(kind_), " takes ", min, " to ",
                        max));
    }
    return value;
  }

  // Refuses a field that this kind would ignore.
  void Refuse(absl::string_view field, bool set, float value) {
    if (set)
      Fail(absl::StrCat("optimizer.", field, " is ", value, ": ", Optimizer::Kind_Name(kind_), " has no such field"));
  }

  const absl::Status& status() const { return status_; }

 private:
  void Fail(absl::string_view message) { status_.Update(absl::InvalidArgumentError(message)); }

  const Optimizer::Kind kind_;
  absl::Status status_;
};

float DefaultLearningRate(Optimizer::Kind kind) {
  if (kind == Optimizer::SGD) return 0.1f;
  return kind == Optimizer::ADAM ? 1e-3f : 0.05f;
}

}  // namespace

absl::StatusOr<SliceOptimizer> SliceOptimizer::Create(const Optimizer& spec, int64_t width) {
  const Optimizer::Kind kind = spec.kind();
  if (!Optimizer::Kind_IsValid(kind)) {
    return absl::InvalidArgumentError(absl::StrCat("optimizer.kind is ", static_cast<int>(kind), ": takes 0 to ",
                                                   static_cast<int>(Optimizer::Kind_MAX)));
  }
  if (width < 1) return absl::InvalidArgumentError(absl::StrCat("width is ", width, ": takes 1 or more"));
  const bool adam = kind == Optimizer::ADAM;
  const bool ftrl = kind == Optimizer::FTRL;
  const bool adagrad = kind == Optimizer::ADAGRAD || kind == Optimizer::ROW_WISE_ADAGRAD;

  SliceOptimizer optimizer;
  OptimizerRates& rates = optimizer.rates_;
  Fields fields(kind);
#define ROWAN_READ(field, fallback, min, max) fields.Read(#field, spec.has_##field(), spec.field(), fallback, min, max)
#define ROWAN_REFUSE(field) fields.Refuse(#field, spec.has_##field(), spec.field())
  rates.learning_rate = ROWAN_READ(learning_rate, DefaultLearningRate(kind), ftrl ? 1e-9f : 0, kMaxRate);
  rates.inverse_learning_rate = ftrl ? 1 / rates.learning_rate : 0;
  if (adagrad || ftrl) {
    optimizer.initial_accumulator_ = ROWAN_READ(initial_accumulator, 0, 0, kMaxSquare);
  } else {
    ROWAN_REFUSE(initial_accumulator);
  }
  if (adagrad || adam) {
    rates.epsilon = ROWAN_READ(epsilon, adam ? 1e-10f : 1e-15f, 0, kMaxRate);
  } else {
    ROWAN_REFUSE(epsilon);
  }
  if (adam) {
    rates.beta1 = ROWAN_READ(beta1, 0.9f, 0, kMaxBeta);
    rates.beta2 = ROWAN_READ(beta2, 0.999f, 0, kMaxBeta);
  } else {
    ROWAN_REFUSE(beta1);
    ROWAN_REFUSE(beta2);
  }
  if (ftrl) {
    rates.l1 = ROWAN_READ(l1, 0, 0, kMaxSquare);
    rates.l2 = ROWAN_READ(l2, 0, 0, kMaxSquare);
    rates.beta = ROWAN_READ(beta, 1e-10f, 0, kMaxRate);
  } else {
    ROWAN_REFUSE(l1);
    ROWAN_REFUSE(l2);
    ROWAN_REFUSE(beta);
  }
#undef ROWAN_READ
#undef ROWAN_REFUSE
  ROWAN_RETURN_IF_ERROR(fields.status());

  if (adam) {
    rates.one_minus_beta1 = static_cast<float>(1.0 - rates.beta1);
    rates.one_minus_beta2 = static_cast<float>(1.0 - rates.beta2);
    optimizer.beta_powers_ =
        std::make_shared<const BetaPowers>(BetaPowers{BetaPower(rates.beta1), BetaPower(rates.beta2)});
    rates.beta_powers = optimizer.beta_powers_.get();
  }
  optimizer.width_ = width;
  if (kind == Optimizer::ADAGRAD) optimizer.state_floats_ = width;
  if (kind == Optimizer::ROW_WISE_ADAGRAD) optimizer.state_floats_ = 1;
  if (adam || ftrl) optimizer.state_floats_ = 2 * width;
  optimizer.accumulator_offset_ = ftrl ? width : 0;
  optimizer.kernel_ = FindOptimizerKernel(kind);
  return optimizer;
}

void SliceOptimizer::InitState(float* state) const {
  std::fill_n(state, accumulator_offset_, 0.0f);
  std::fill_n(state + accumulator_offset_, state_floats_ - accumulator_offset_, initial_accumulator_);
}

}  // namespace rowan
