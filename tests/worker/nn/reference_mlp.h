// ReferenceMlp: the tower of worker/nn/mlp.h in double precision, by plain loops. Parameters in the same order.
#ifndef ROWAN_TESTS_WORKER_NN_REFERENCE_MLP_H_
#define ROWAN_TESTS_WORKER_NN_REFERENCE_MLP_H_

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "worker/nn/mlp.h"

namespace rowan::testing {

using Doubles = std::vector<double>;

struct ReferenceGradients {
  std::vector<Doubles> parameters;  // sums over the samples
  Doubles dx;                       // (m, in)
};

class ReferenceMlp {
 public:
  ReferenceMlp(std::vector<int64_t> dims, std::vector<Doubles> params)
      : dims_(std::move(dims)), params_(std::move(params)) {}

  std::vector<Doubles>& params() { return params_; }

  double Logit(const double* x) const { return Activations(x).back()[0]; }

  ReferenceGradients Backward(const Doubles& x, const Doubles& dlogits) const {
    ReferenceGradients out;
    for (const Doubles& parameter : params_) out.parameters.emplace_back(parameter.size());
    out.dx.resize(x.size());
    for (size_t s = 0; s < dlogits.size(); ++s) {
      const std::vector<Doubles> a = Activations(x.data() + s * dims_[0]);
      Doubles delta = {dlogits[s]};
      for (size_t l = dims_.size() - 1; l-- > 0;) {
        const Doubles& w = params_[2 * l];
        Doubles below(dims_[l]);
        for (int64_t j = 0; j < dims_[l + 1]; ++j) {
          out.parameters[2 * l + 1][j] += delta[j];
          for (int64_t i = 0; i < dims_[l]; ++i) {
            out.parameters[2 * l][i * dims_[l + 1] + j] += a[l][i] * delta[j];
            if (l == 0 || a[l][i] > 0) below[i] += w[i * dims_[l + 1] + j] * delta[j];
          }
        }
        delta = below;
      }
      for (int64_t i = 0; i < dims_[0]; ++i) out.dx[s * dims_[0] + i] = delta[i];
    }
    return out;
  }

 private:
  std::vector<Doubles> Activations(const double* x) const {
    std::vector<Doubles> a = {Doubles(x, x + dims_[0])};
    for (size_t l = 0; l + 1 < dims_.size(); ++l) {
      Doubles next(params_[2 * l + 1]);
      for (int64_t j = 0; j < dims_[l + 1]; ++j) {
        for (int64_t i = 0; i < dims_[l]; ++i) next[j] += a[l][i] * params_[2 * l][i * dims_[l + 1] + j];
        if (l + 2 < dims_.size() && next[j] < 0) next[j] = 0;
      }
      a.push_back(next);
    }
    return a;
  }

  std::vector<int64_t> dims_;
  std::vector<Doubles> params_;
};

// Random parameters of a tower, their pointers and room for their gradients.
struct TowerBuffers {
  TowerBuffers(const Mlp& mlp, uint32_t seed) {
    std::mt19937 random(seed);
    for (const MlpParameter& parameter : mlp.parameters()) {
      std::normal_distribution<float> normal(0, parameter.bias ? 0.1 : std::sqrt(2.0 / parameter.fan_in));
      params.emplace_back(parameter.size);
      for (float& value : params.back()) value = normal(random);
      gradients.emplace_back(parameter.size, -1e30f);
    }
    for (size_t i = 0; i < params.size(); ++i) {
      param_pointers.push_back(params[i].data());
      gradient_pointers.push_back(gradients[i].data());
    }
  }
  ReferenceMlp Reference(const Mlp& mlp) const {
    std::vector<Doubles> doubles;
    for (const std::vector<float>& parameter : params) doubles.emplace_back(parameter.begin(), parameter.end());
    return ReferenceMlp(mlp.dims(), doubles);
  }

  std::vector<std::vector<float>> params;
  std::vector<std::vector<float>> gradients;
  std::vector<const float*> param_pointers;
  std::vector<float*> gradient_pointers;
};

inline std::vector<float> RandomFloats(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_WORKER_NN_REFERENCE_MLP_H_
