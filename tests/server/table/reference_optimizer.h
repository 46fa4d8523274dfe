// The formulas of server/table/optimizer.h in double precision, one element after the other.
#ifndef ROWAN_TESTS_SERVER_TABLE_REFERENCE_OPTIMIZER_H_
#define ROWAN_TESTS_SERVER_TABLE_REFERENCE_OPTIMIZER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "proto/table.pb.h"

namespace rowan::testing {

// A row's slice. The spec must set every field that its kind has.
struct ReferenceRow {
  ReferenceRow(const proto::Optimizer& spec, const std::vector<float>& initial)
      : spec(spec), w(initial.begin(), initial.end()), a(w.size(), spec.initial_accumulator()), b(w.size(), 0) {}

  void Update(const std::vector<float>& gradient) {
    ++t;
    double mean_square = 0;
    for (const double g : gradient) mean_square += g * g / gradient.size();
    for (size_t i = 0; i < w.size(); ++i) {
      const double g = gradient[i], rate = spec.learning_rate();
      switch (spec.kind()) {
        case proto::Optimizer::SGD:
          w[i] -= rate * g;
          break;
        case proto::Optimizer::ADAGRAD:
        case proto::Optimizer::ROW_WISE_ADAGRAD:
          a[i] += spec.kind() == proto::Optimizer::ADAGRAD ? g * g : mean_square;
          if (a[i] > 0) w[i] -= rate * g / (std::sqrt(a[i]) + spec.epsilon());
          break;
        case proto::Optimizer::ADAM: {
          const double beta1 = spec.beta1(), beta2 = spec.beta2();
          a[i] = beta1 * a[i] + (1 - beta1) * g;
          b[i] = beta2 * b[i] + (1 - beta2) * g * g;
          const double mean = a[i] / (1 - std::pow(beta1, t)), variance = b[i] / (1 - std::pow(beta2, t));
          if (variance > 0) w[i] -= rate * mean / (std::sqrt(variance) + spec.epsilon());
          break;
        }
        default: {  // FTRL; b is z.
          if (t == 1) {
            b[i] = -w[i] * ((spec.beta() + std::sqrt(a[i])) / rate + spec.l2());
            if (w[i] != 0) b[i] -= std::copysign(double{spec.l1()}, w[i]);
          }
          b[i] += g - (std::sqrt(a[i] + g * g) - std::sqrt(a[i])) / rate * w[i];
          a[i] += g * g;
          const double curvature = (spec.beta() + std::sqrt(a[i])) / rate + spec.l2();
          const double shrunk = std::copysign(std::max(0.0, std::fabs(b[i]) - spec.l1()), b[i]);
          if (curvature > 0) w[i] = -shrunk / curvature;
        }
      }
    }
  }

  const proto::Optimizer spec;
  int64_t t = 0;
  std::vector<double> w, a, b;
};

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_SERVER_TABLE_REFERENCE_OPTIMIZER_H_
