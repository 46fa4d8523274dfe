#include "worker/examples/ctr/click_model.h"

#include <cmath>

#include "common/hash.h"

namespace rowan {
namespace {

// Streams of a row beside those of its categoricals, which are 0 .. kCategoricalColumns - 1.
constexpr uint64_t kIntegerStream = 64;
constexpr uint64_t kLabelStream = 65;
constexpr uint64_t kModelSeed = 0x726f77616e;  // The effects of ids are derived from it.

constexpr double kBias = -2.25;
constexpr double kPairWeight = 0.86;  // Logit per unit of the sum of products of latent vectors.

constexpr IntegerColumn kIntegers[kIntegerColumns] = {
    // location, scale, missing, offset, weight, missing weight
    {0.5, 1.2, 0.45, 0, 0.392, -0.224},  //
    {2.0, 2.0, 0.00, 3, 0.224, 0},       //
    {2.0, 1.3, 0.21, 0, 0.112, -0.224},  //
    {1.5, 1.0, 0.22, 0, -0.112, 0},      //
    {7.5, 2.0, 0.03, 0, -0.28, 0},       //
    {3.5, 1.7, 0.22, 0, -0.28, 0.224},   //
    {1.5, 1.7, 0.04, 0, 0.28, 0},        //
    {2.0, 1.1, 0.00, 0, 0, 0},           //
    {4.0, 1.5, 0.04, 0, -0.112, 0},      //
    {-0.5, 0.8, 0.45, 0, 0.168, 0.112},  //
    {0.7, 0.9, 0.04, 1, 0.224, 0},       //
    {-0.3, 1.1, 0.76, 0, 0, 0},          //
    {1.7, 1.0, 0.22, 0, -0.112, 0},      //
};

constexpr CategoricalColumn kCategoricals[kCategoricalColumns] = {
    // vocabulary, exponent, missing, weight, pairs
    {50, 1.10, 0, 0.168, true},        //
    {60, 1.10, 0, 0.168, false},       //
    {1000000, 1.05, 0, 0.034, false},  //
    {1000000, 1.05, 0, 0, false},      //
    {300, 1.20, 0, 0.224, false},      //
    {20, 1.05, 0.12, 0.224, false},    //
    {2000, 1.25, 0, 0.056, false},     //
    {30, 1.10, 0, 0.168, true},        //
    {3, 1.30, 0, 0.28, false},         //
    {5000, 1.30, 0, 0.056, false},     //
    {150, 1.10, 0, 0.168, false},      //
    {1000000, 1.05, 0, 0, false},      //
    {200, 1.20, 0, 0.168, false},      //
    {25, 1.10, 0, 0.168, false},       //
    {500, 1.20, 0, 0.112, false},      //
    {1000000, 1.05, 0, 0, false},      //
    {20, 1.10, 0, 0.168, true},        //
    {80, 1.15, 0, 0.168, false},       //
    {50, 1.20, 0.44, 0.224, false},    //
    {4, 1.10, 0.44, 0.224, false},     //
    {1000000, 1.05, 0.01, 0, false},   //
    {12, 1.25, 0.76, 0.224, false},    //
    {12, 1.10, 0, 0.168, true},        //
    {10000, 1.30, 0, 0.034, false},    //
    {100, 1.30, 0.44, 0.168, false},   //
    {1000, 1.25, 0.44, 0, false},      //
};

// The sequence from which everything about one id is derived.
uint64_t IdSeed(int column, int64_t id) {
  return RandomBits(RandomBits(kModelSeed, static_cast<uint64_t>(column)), static_cast<uint64_t>(id));
}

// Element `i` of the sequence, uniform with mean 0 and variance 1.
double Centered(uint64_t seed, uint64_t i) { return (2 * UnitFromBits(RandomBits(seed, i)) - 1) * 1.7320508075688772; }

double SignedLog1p(int64_t x) {
  return x < 0 ? -PortableLog(1 - static_cast<double>(x)) : PortableLog(1 + static_cast<double>(x));
}

// Fills `row->integers` and returns what they add to the logit.
double DrawIntegers(RandomStream* random, ClickRow* row) {
  double logit = 0;
  double spare = 0;
  for (int j = 0; j < kIntegerColumns; ++j) {
    const IntegerColumn& column = kIntegers[j];
    double normal = spare;
    if (j % 2 == 0) random->NextNormals(&normal, &spare);
    if (random->NextUnit() < column.missing) {
      row->integers[j] = ClickRow::kNoInteger;
      logit += column.missing_weight;
      continue;
    }
    const double magnitude = PortableExp(column.location + column.scale * normal);
    row->integers[j] = static_cast<int64_t>(magnitude + 0.5) - column.offset;
    if (column.weight == 0) continue;
    logit += column.weight * (SignedLog1p(row->integers[j]) - column.location) / column.scale;
  }
  return logit;
}

}  // namespace

absl::Span<const IntegerColumn> IntegerColumns() { return kIntegers; }
absl::Span<const CategoricalColumn> CategoricalColumns() { return kCategoricals; }

uint32_t CategoricalToken(int column, int64_t id) {
  // The finalizer of MurmurHash3, a bijection of 32-bit values.
  uint32_t x = static_cast<uint32_t>(id) + static_cast<uint32_t>(column + 1) * 0x9e3779b9u;
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  x ^= x >> 16;
  return x;
}

ClickModel::ClickModel() {
  for (int c = 0; c < kCategoricalColumns; ++c) {
    zipf_.emplace_back(kCategoricals[c].vocabulary, kCategoricals[c].exponent);
    latents_.push_back(kCategoricals[c].pairs ? LatentVectors(c) : std::vector<Latent>());
  }
}

std::vector<ClickModel::Latent> ClickModel::LatentVectors(int column) {
  const int64_t n = kCategoricals[column].vocabulary;
  std::vector<Latent> vectors(n);
  std::vector<double> weights(n);
  double total = 0;
  for (int64_t id = 0; id < n; ++id) {
    const uint64_t seed = IdSeed(column, id);
    for (int d = 0; d < kLatentRank; ++d) vectors[id][d] = Centered(seed, 1 + static_cast<uint64_t>(d));
    weights[id] = PortableExp(-kCategoricals[column].exponent * PortableLog(static_cast<double>(id + 1)));
    total += weights[id];
  }
  double square = 0;
  for (int d = 0; d < kLatentRank; ++d) {
    double mean = 0;
    for (int64_t id = 0; id < n; ++id) mean += weights[id] / total * vectors[id][d];
    for (int64_t id = 0; id < n; ++id) {
      vectors[id][d] -= mean;
      square += weights[id] / total * vectors[id][d] * vectors[id][d];
    }
  }
  const double scale = 1 / std::sqrt(square);
  for (Latent& v : vectors) {
    for (double& x : v) x *= scale;
  }
  return vectors;
}

ClickRow ClickModel::Row(uint64_t seed, int64_t row) const {
  const uint64_t row_seed = RandomBits(seed, static_cast<uint64_t>(row));
  ClickRow out;
  RandomStream integers(RandomBits(row_seed, kIntegerStream));
  out.first_order = kBias + DrawIntegers(&integers, &out);
  // The sum over pairs of products is (|sum of vectors|^2 - sum of |vector|^2) / 2.
  Latent sum = {};
  double squares = 0;
  for (int c = 0; c < kCategoricalColumns; ++c) {
    const CategoricalColumn& column = kCategoricals[c];
    RandomStream random(RandomBits(row_seed, static_cast<uint64_t>(c)));
    if (column.missing > 0 && random.NextUnit() < column.missing) {
      out.ids[c] = ClickRow::kNoId;
      continue;
    }
    const int64_t id = zipf_[c].Draw(&random) - 1;
    out.ids[c] = id;
    if (column.weight > 0) out.first_order += column.weight * Centered(IdSeed(c, id), 0);
    if (!column.pairs) continue;
    const Latent& v = latents_[c][id];
    for (int d = 0; d < kLatentRank; ++d) {
      sum[d] += v[d];
      squares += v[d] * v[d];
    }
  }
  double square = 0;
  for (double x : sum) square += x * x;
  out.interaction = kPairWeight * (square - squares) / 2;
  out.probability = 1 / (1 + PortableExp(-(out.first_order + out.interaction)));
  out.click = UnitFromBits(RandomBits(row_seed, kLabelStream)) < out.probability;
  return out;
}

}  // namespace rowan
