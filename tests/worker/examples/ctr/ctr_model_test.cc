#include "worker/examples/ctr/ctr_model.h"

#include <cmath>
#include <limits>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/service/local_job.h"
#include "tests/status_matchers.h"
#include "tests/worker/nn/reference_mlp.h"
#include "worker/nn/gemm.h"

namespace rowan {
namespace {

using ::rowan::testing::Doubles;
using ::rowan::testing::ReferenceMlp;
using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;

constexpr int kEmbedding = 3;
constexpr int kRow = 1 + kEmbedding;

proto::CtrModelSpec SmallSpec() {
  proto::CtrModelSpec spec = DefaultCtrModelSpec();
  spec.set_embedding_width(kEmbedding);
  spec.clear_hidden_widths();
  spec.add_hidden_widths(6);
  spec.add_hidden_widths(4);
  return spec;
}

CtrBatch RandomBatch(int64_t n, uint64_t keys_per_column, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  CtrBatch batch;
  batch.batch.Begin(n);
  batch.batch.size = n;
  for (float& label : batch.batch.labels) label = random() % 3 == 0;
  for (float& number : batch.batch.numbers) number = normal(random);
  for (uint64_t& key : batch.batch.keys) key = random() % keys_per_column;
  for (int64_t i = 0; i < n; ++i) batch.batch.rows[i] = i;
  batch.batch.Finish();
  Deduplicator deduplicator;
  MakeDistinct(&deduplicator, &batch);
  return batch;
}

// A model whose rows and parameters the test sets, in place of what a pull would bring.
class Fixture {
 public:
  Fixture(int threads, const CtrBatch& batch, uint32_t seed = 5) : pool_(threads, UseOneThreadPerProduct) {
    UseOneThreadPerProduct();
    proto::JobSpec spec;
    spec.set_num_ranks(1);
    spec.set_num_shards(1);
    job_ = LocalJob::Create(spec, 1).value();
    Client::Options options;
    options.coordinator = job_->coordinator();
    options.servers = job_->data_planes();
    client_ = Client::Connect(options).value();
    model_ = std::make_unique<CtrModel>(SmallSpec(), &pool_);
    EXPECT_OK(model_->Open(CtrRates(), client_.get()));
    rows_ = model_->RowsOf(batch)[0].rows;
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 0.5);
    for (float& value : rows_) value = normal(random);
    for (const DenseWhole& whole : model_->DenseParameters()) {
      dense_.push_back(whole.values);
      for (float& value : whole.values) value = normal(random);
    }
  }

  CtrModel& model() { return *model_; }
  absl::Span<float> rows() { return rows_; }                              // (m, kRow)
  const std::vector<absl::Span<float>>& dense() const { return dense_; }  // as DenseGradients()

 private:
  ThreadPool pool_;
  std::unique_ptr<LocalJob> job_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<CtrModel> model_;
  absl::Span<float> rows_;
  std::vector<absl::Span<float>> dense_;
};

// The model in double precision, by its definition.
struct Reference {
  Doubles rows;
  std::vector<Doubles> dense;

  explicit Reference(Fixture* fixture) : rows(fixture->rows().begin(), fixture->rows().end()) {
    for (const absl::Span<float> values : fixture->dense()) dense.emplace_back(values.begin(), values.end());
  }

  Doubles Logits(const CtrBatch& batch) const {
    const int64_t n = batch.batch.size;
    const ReferenceMlp tower({Batch::kNumbers + Batch::kKeys * kEmbedding, 6, 4, 1}, dense);
    Doubles logits;
    for (int64_t i = 0; i < n; ++i) {
      Doubles x(&batch.batch.numbers[i * Batch::kNumbers], &batch.batch.numbers[i * Batch::kNumbers] + Batch::kNumbers);
      double first_order = 0;
      for (int c = 0; c < Batch::kKeys; ++c) {
        const double* const row = &rows[batch.places[c * n + i] * kRow];
        first_order += row[0];
        x.insert(x.end(), row + 1, row + kRow);
      }
      logits.push_back(tower.Logit(x.data()) + first_order);
    }
    return logits;
  }

  double Loss(const CtrBatch& batch) const {
    const Doubles logits = Logits(batch);
    double loss = 0;
    for (size_t i = 0; i < logits.size(); ++i) {
      loss += std::log1p(std::exp(batch.batch.labels[i] > 0.5 ? -logits[i] : logits[i]));
    }
    return loss;
  }

  double Slope(const CtrBatch& batch, double* value) const {
    constexpr double kMove = 1e-6;
    const double before = *value;
    *value = before + kMove;
    const double above = Loss(batch);
    *value = before - kMove;
    const double below = Loss(batch);
    *value = before;
    return (above - below) / (2 * kMove);
  }
};

TEST(CtrModelTest, LossAndGradientsAreThoseOfFiniteDifferences) {
  const CtrBatch batch = RandomBatch(/*n=*/11, /*keys_per_column=*/3, /*seed=*/2);
  Fixture fixture(/*threads=*/1, batch);
  Reference reference(&fixture);
  const CtrModel::Result result = fixture.model().Train(batch);
  EXPECT_FALSE(result.non_finite.has_value());
  EXPECT_NEAR(result.loss, reference.Loss(batch), 1e-4);
  const Doubles logits = reference.Logits(batch);
  ASSERT_EQ(fixture.model().logits().size(), logits.size());
  for (size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(fixture.model().logits()[i], logits[i], 1e-4);

  const std::vector<RowsPush> rows = fixture.model().RowGradients(batch);
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(rows[0].gradients.size(), batch.keys.size() * kRow);
  EXPECT_EQ(rows[0].keys.data(), batch.keys.data());
  EXPECT_EQ(rows[0].occurrences.data(), batch.occurrences.data());
  double largest = 0;
  for (size_t i = 0; i < reference.rows.size(); ++i) {
    const double slope = reference.Slope(batch, &reference.rows[i]);
    EXPECT_NEAR(rows[0].gradients[i], slope, 1e-4 * (1 + std::abs(slope))) << "row value " << i;
    largest = std::max(largest, std::abs(slope));
  }
  EXPECT_GT(largest, 0.1);

  const std::vector<DensePush> dense = fixture.model().DenseGradients();
  ASSERT_EQ(dense.size(), 6u);
  for (size_t p = 0; p < dense.size(); ++p) {
    ASSERT_EQ(dense[p].gradient.size(), reference.dense[p].size());
    for (size_t i = 0; i < dense[p].gradient.size(); ++i) {
      const double slope = reference.Slope(batch, &reference.dense[p][i]);
      EXPECT_NEAR(dense[p].gradient[i], slope, 1e-4 * (1 + std::abs(slope)))
          << dense[p].dense.spec().name() << " " << i;
    }
  }
}

std::vector<float> Bits(Fixture* fixture, const CtrBatch& batch) {
  const CtrModel::Result result = fixture->model().Train(batch);
  const absl::Span<const float> logits = fixture->model().logits();
  std::vector<float> bits(logits.begin(), logits.end());
  bits.push_back(static_cast<float>(result.loss));
  for (const RowsPush& push : fixture->model().RowGradients(batch)) {
    bits.insert(bits.end(), push.gradients.begin(), push.gradients.end());
  }
  for (const DensePush& push : fixture->model().DenseGradients()) {
    bits.insert(bits.end(), push.gradient.begin(), push.gradient.end());
  }
  return bits;
}

TEST(CtrModelTest, ThreadsDoNotChangeABit) {
  for (const int64_t n : {1, 7, 700}) {
    const CtrBatch batch = RandomBatch(n, /*keys_per_column=*/40, /*seed=*/n);
    Fixture one(1, batch), two(2, batch), three(3, batch);
    const std::vector<float> bits = Bits(&one, batch);
    EXPECT_EQ(Bits(&two, batch), bits);
    EXPECT_EQ(Bits(&three, batch), bits);
    EXPECT_EQ(Bits(&three, batch), bits) << "a second time";
  }
}

TEST(CtrModelTest, ASmallerBatchAfterALargerOneSeesNothingOfIt) {
  const CtrBatch large = RandomBatch(500, 40, 1), small = RandomBatch(9, 5, 2);
  Fixture fresh(1, small), used(1, large);
  Bits(&used, large);
  const absl::Span<float> rows = used.model().RowsOf(small)[0].rows;
  std::copy(fresh.rows().begin(), fresh.rows().end(), rows.begin());
  for (size_t p = 0; p < fresh.dense().size(); ++p) {
    std::copy(fresh.dense()[p].begin(), fresh.dense()[p].end(), used.dense()[p].begin());
  }
  EXPECT_EQ(Bits(&used, small), Bits(&fresh, small));
}

TEST(CtrModelTest, NoSamplesGiveNoLossAndZeroGradients) {
  const CtrBatch batch = RandomBatch(0, 1, 1);
  Fixture fixture(2, batch);
  const CtrModel::Result result = fixture.model().Train(batch);
  EXPECT_EQ(result.loss, 0);
  EXPECT_FALSE(result.non_finite.has_value());
  for (const DensePush& push : fixture.model().DenseGradients()) {
    for (const float gradient : push.gradient) EXPECT_EQ(gradient, 0);
  }
}

TEST(CtrModelTest, PredictionsAreTheSigmoidOfTheLogitAndDoNotDependOnTheBatch) {
  CtrBatch batch = RandomBatch(300, 10, 3);
  Fixture fixture(2, batch);
  const Doubles logits = Reference(&fixture).Logits(batch);
  std::vector<float> all;
  fixture.model().Predict(batch, &all);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], 1 / (1 + std::exp(-logits[i])), 1e-5);

  CtrBatch one;  // sample 217 alone, on the same rows
  one.keys = batch.keys;
  one.batch.size = 1;
  one.batch.numbers.assign(&batch.batch.numbers[217 * Batch::kNumbers],
                           &batch.batch.numbers[217 * Batch::kNumbers] + Batch::kNumbers);
  for (int c = 0; c < Batch::kKeys; ++c) one.places.push_back(batch.places[c * 300 + 217]);
  std::vector<float> alone;
  fixture.model().Predict(one, &alone);
  EXPECT_EQ(alone, std::vector<float>{all[217]});
}

TEST(CtrModelTest, ALossThatIsNotFiniteNamesTheFirstSample) {
  const CtrBatch batch = RandomBatch(50, 1000, 4);
  for (const float value : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Fixture fixture(2, batch);
    for (const int64_t sample : {41, 17}) fixture.rows()[batch.places[3 * 50 + sample] * kRow] = value;
    const CtrModel::Result result = fixture.model().Train(batch);
    ASSERT_TRUE(result.non_finite.has_value());
    EXPECT_EQ(*result.non_finite, 17);
  }
}

TEST(CtrModelSpecTest, WhatThisProgramCannotServeIsNamed) {
  EXPECT_OK(CheckCtrModelSpec(DefaultCtrModelSpec()));
  EXPECT_OK(CheckCtrModelSpec(SmallSpec()));
  const auto with = [](auto change) {
    proto::CtrModelSpec spec = DefaultCtrModelSpec();
    change(&spec);
    return CheckCtrModelSpec(spec);
  };
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(with([](auto* spec) { spec->set_key_version(77); }), StatusIs(kInvalid, HasSubstr("version 77")));
  EXPECT_THAT(with([](auto* spec) { spec->add_category_columns("C27"); }), StatusIs(kInvalid, HasSubstr("columns")));
  EXPECT_THAT(with([](auto* spec) { spec->mutable_number_columns()->SwapElements(0, 1); }),
              StatusIs(kInvalid, HasSubstr("columns")));
  EXPECT_THAT(with([](auto* spec) { spec->set_embedding_width(0); }), StatusIs(kInvalid, HasSubstr("of 0 floats")));
  EXPECT_THAT(with([](auto* spec) { spec->set_hidden_widths(1, 0); }), StatusIs(kInvalid, HasSubstr("width 0")));
  EXPECT_THAT(with([](auto* spec) { spec->set_hidden_widths(0, 70000); }), StatusIs(kInvalid, HasSubstr("70000")));
}

}  // namespace
}  // namespace rowan
