// The figures that GENERATOR.md promises, each measured on the rows themselves.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"
#include "worker/examples/ctr/click_model.h"

namespace rowan {
namespace {

constexpr int64_t kRows = 600000;
constexpr int64_t kTrainRows = kRows - kRows / 5;

// The AUC by ranks, ties shared.
double Auc(const std::vector<float>& scores, const std::vector<bool>& clicks) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] < scores[b]; });
  double right = 0, passed = 0, clicked = 0;
  for (size_t i = 0; i < order.size();) {
    double tied_clicked = 0, tied_passed = 0;
    const float score = scores[order[i]];
    for (; i < order.size() && scores[order[i]] == score; ++i) (clicks[order[i]] ? tied_clicked : tied_passed) += 1;
    right += tied_clicked * (passed + tied_passed / 2);
    passed += tied_passed;
    clicked += tied_clicked;
  }
  return right / clicked / passed;
}

// Everything the tests look at, generated once.
struct Data {
  std::vector<ClickRow> rows;
  std::vector<bool> clicks;
  std::vector<std::array<int32_t, kCategoricalColumns>> features;  // Numbered densely over (column, id).
  int64_t distinct_pairs = 0;                                      // Of column and id; missing is no id.
  int64_t feature_count = 0;  // The same with a feature for missing in each column that has it.

  static const Data& Get() {
    static const Data* const data = new Data(1);
    return *data;
  }

  explicit Data(uint64_t seed) {
    const ClickModel model;
    absl::flat_hash_map<int64_t, int32_t> numbers;
    for (int64_t i = 0; i < kRows; ++i) {
      rows.push_back(model.Row(seed, i));
      clicks.push_back(rows.back().click);
      features.emplace_back();
      for (int c = 0; c < kCategoricalColumns; ++c) {
        const int64_t id = rows.back().ids[c];
        const auto [at, fresh] = numbers.try_emplace((id + 1) * kCategoricalColumns + c, numbers.size());
        distinct_pairs += fresh && id != ClickRow::kNoId;
        features.back()[c] = at->second;
      }
    }
    feature_count = static_cast<int64_t>(numbers.size());
  }

  std::vector<bool> TestClicks() const { return {clicks.begin() + kTrainRows, clicks.end()}; }
};

// Logistic regression on one-hot ids, log-transformed integers and "missing" indicators, by Adagrad on the mean
// gradients of batches of 2,048.
class LogisticRegression {
 public:
  explicit LogisticRegression(const Data& data, float rate)
      : data_(data), rate_(rate), ids_(data.feature_count), inputs_(2 * kIntegerColumns + 1) {}

  void Epoch(int64_t rows) {
    constexpr int64_t kBatch = 2048;
    std::vector<float> gradient(ids_.size());
    for (int64_t begin = 0; begin < rows; begin += kBatch) {
      const int64_t end = std::min(begin + kBatch, rows);
      std::vector<float> dense(inputs_.size());
      std::vector<int32_t> touched;
      for (int64_t i = begin; i < end; ++i) {
        const float error = (1 / (1 + std::exp(-Score(i))) - data_.clicks[i]) / static_cast<float>(end - begin);
        const auto x = Inputs(i);
        for (size_t j = 0; j < x.size(); ++j) dense[j] += error * x[j];
        for (int32_t f : data_.features[i]) {
          if (gradient[f] == 0) touched.push_back(f);
          gradient[f] += error;
        }
      }
      for (size_t j = 0; j < dense.size(); ++j) inputs_[j].Step(dense[j], rate_);
      for (int32_t f : touched) {
        ids_[f].Step(gradient[f], rate_);
        gradient[f] = 0;
      }
    }
  }

  float Score(int64_t i) const {
    float score = 0;
    const auto x = Inputs(i);
    for (size_t j = 0; j < x.size(); ++j) score += x[j] * inputs_[j].value;
    for (int32_t f : data_.features[i]) score += ids_[f].value;
    return score;
  }

 private:
  struct Weight {
    float value = 0;
    float squares = 0;

    void Step(float gradient, float rate) {
      if (gradient == 0) return;
      squares += gradient * gradient;
      value -= rate * gradient / std::sqrt(squares);
    }
  };

  std::array<float, 2 * kIntegerColumns + 1> Inputs(int64_t i) const {
    std::array<float, 2 * kIntegerColumns + 1> x = {};
    for (int j = 0; j < kIntegerColumns; ++j) {
      const int64_t value = data_.rows[i].integers[j];
      if (value == ClickRow::kNoInteger) {
        x[kIntegerColumns + j] = 1;
      } else {
        x[j] = std::copysign(std::log1p(std::fabs(static_cast<float>(value))), static_cast<float>(value)) / 3;
      }
    }
    x.back() = 1;
    return x;
  }

  const Data& data_;
  const float rate_;
  std::vector<Weight> ids_;
  std::vector<Weight> inputs_;
};

// AUC on the last fifth of an additive predictor that starts from the truth: to the logit's own additive part come
// corrections for every frequent id, fitted on the training rows so that the mean prediction of each (column, id)
// matches the mean true probability of its rows. What pairs leak into single columns through the logistic is in it.
double BestAdditiveAuc(const Data& data) {
  std::vector<float> score(kRows);
  for (int64_t i = 0; i < kRows; ++i) score[i] = static_cast<float>(data.rows[i].first_order);
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (int c = 0; c < kCategoricalColumns; ++c) {
      struct Sums {
        double truth = 0, predicted = 0, slope = 0;
        int64_t rows = 0;
      };
      std::vector<Sums> sums(data.feature_count);
      for (int64_t i = 0; i < kTrainRows; ++i) {
        Sums& s = sums[data.features[i][c]];
        const double p = 1 / (1 + std::exp(-score[i]));
        s.truth += data.rows[i].probability;
        s.predicted += p;
        s.slope += p * (1 - p);
        ++s.rows;
      }
      for (int64_t i = 0; i < kRows; ++i) {
        const Sums& s = sums[data.features[i][c]];
        if (s.rows >= 1000) score[i] += static_cast<float>((s.truth - s.predicted) / s.slope);
      }
    }
  }
  return Auc({score.begin() + kTrainRows, score.end()}, data.TestClicks());
}

TEST(ClickStatisticsTest, OneRowInFiveIsClickedWhateverTheSeed) {
  const Data& data = Data::Get();
  EXPECT_NEAR(std::count(data.clicks.begin(), data.clicks.end(), true) / static_cast<double>(kRows), 0.2, 0.005);
  const ClickModel model;
  for (uint64_t seed : {2, 3}) {
    int64_t clicks = 0;
    for (int64_t i = 0; i < 50000; ++i) clicks += model.Row(seed, i).click;
    EXPECT_NEAR(static_cast<double>(clicks) / 50000, 0.2, 0.01) << "seed " << seed;
  }
}

TEST(ClickStatisticsTest, PairsCarryMoreThanHalfOfTheLogit) {
  double first = 0, first_square = 0, pairs = 0, pairs_square = 0, product = 0;
  for (const ClickRow& row : Data::Get().rows) {
    first += row.first_order / kRows;
    first_square += row.first_order * row.first_order / kRows;
    pairs += row.interaction / kRows;
    pairs_square += row.interaction * row.interaction / kRows;
    product += row.first_order * row.interaction / kRows;
  }
  const double first_variance = first_square - first * first;
  const double pairs_variance = pairs_square - pairs * pairs;
  const double total = first_variance + pairs_variance + 2 * (product - first * pairs);
  RecordProperty("pairs_share", std::to_string(pairs_variance / total));
  EXPECT_GE(pairs_variance / total, 0.52);
  EXPECT_NEAR(product - first * pairs, 0, 0.02) << "the parts are uncorrelated";
}

// What makes the pairwise part invisible to additive models: no id shifts it by itself.
TEST(ClickStatisticsTest, PairsHaveNoMainEffects) {
  const Data& data = Data::Get();
  std::vector<double> sum(data.feature_count), square(data.feature_count);
  std::vector<int64_t> count(data.feature_count);
  for (int64_t i = 0; i < kRows; ++i) {
    for (int32_t f : data.features[i]) {
      sum[f] += data.rows[i].interaction;
      square[f] += data.rows[i].interaction * data.rows[i].interaction;
      ++count[f];
    }
  }
  for (int64_t f = 0; f < data.feature_count; ++f) {
    if (count[f] < 5000) continue;
    EXPECT_LT(std::fabs(sum[f]), 5.5 * std::sqrt(square[f])) << "feature " << f << " of " << count[f] << " rows";
  }
}

TEST(ClickStatisticsTest, BestReachableAucIsAboutFourFifths) {
  const Data& data = Data::Get();
  std::vector<float> truth;
  for (const ClickRow& row : data.rows) truth.push_back(static_cast<float>(row.probability));
  const double auc = Auc(truth, data.clicks);
  RecordProperty("best_auc", std::to_string(auc));
  EXPECT_NEAR(auc, 0.80, 0.018);
  EXPECT_NEAR(Auc({truth.begin() + kTrainRows, truth.end()}, data.TestClicks()), 0.80, 0.02);
}

TEST(ClickStatisticsTest, LogisticRegressionStaysBelow) {
  const Data& data = Data::Get();
  LogisticRegression model(data, /*rate=*/0.02f);
  double best = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    model.Epoch(kTrainRows);
    std::vector<float> scores;
    for (int64_t i = kTrainRows; i < kRows; ++i) scores.push_back(model.Score(i));
    best = std::max(best, Auc(scores, data.TestClicks()));
  }
  RecordProperty("logistic_auc", std::to_string(best));
  EXPECT_LE(best, 0.74);
  EXPECT_GE(best, 0.67) << "first-order effects are there to be learned";
}

TEST(ClickStatisticsTest, EvenTheBestAdditivePredictorStaysBelow) {
  const double auc = BestAdditiveAuc(Data::Get());
  RecordProperty("additive_auc", std::to_string(auc));
  EXPECT_LE(auc, 0.735);
}

TEST(ClickStatisticsTest, KeysOutnumberRows) { EXPECT_GE(Data::Get().distinct_pairs, 600000); }

TEST(ClickStatisticsTest, IntegersAreHeavyTailedWithMissingAndNegativeValues) {
  int columns_missing = 0, columns_negative = 0, columns_heavy = 0;
  for (int j = 0; j < kIntegerColumns; ++j) {
    std::vector<int64_t> values;
    for (const ClickRow& row : Data::Get().rows) {
      if (row.integers[j] != ClickRow::kNoInteger) values.push_back(row.integers[j]);
    }
    std::sort(values.begin(), values.end());
    EXPECT_NEAR(1 - static_cast<double>(values.size()) / kRows, IntegerColumns()[j].missing, 0.003);
    columns_missing += values.size() < kRows;
    columns_negative += values.front() < 0;
    EXPECT_GE(values.front(), -IntegerColumns()[j].offset);
    // Of a normal distribution the largest of 600,000 is 5 deviations off, here 30 times the median.
    columns_heavy += values.back() > 30 * std::max<int64_t>(values[values.size() / 2], 1);
  }
  EXPECT_GE(columns_missing, 6);
  EXPECT_GE(columns_negative, 2);
  EXPECT_GE(columns_heavy, 12);
}

}  // namespace
}  // namespace rowan
