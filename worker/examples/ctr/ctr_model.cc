#include "worker/examples/ctr/ctr_model.h"

#include <array>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/key.h"
#include "common/status_macros.h"
#include "worker/nn/loss.h"
#include "worker/train/profile.h"

namespace rowan {
namespace {

std::vector<int64_t> TowerDims(const proto::CtrModelSpec& spec) {
  std::vector<int64_t> dims = {Batch::kNumbers + Batch::kKeys * static_cast<int64_t>(spec.embedding_width())};
  dims.insert(dims.end(), spec.hidden_widths().begin(), spec.hidden_widths().end());
  dims.push_back(1);
  return dims;
}

proto::TableSpec RowSpec(const std::string& name, int64_t embedding_width, float rate) {
  proto::TableSpec spec;
  spec.set_name(name);
  proto::Slice* weight = spec.add_slices();
  weight->set_name("weight");
  weight->set_width(1);
  proto::Slice* embedding = spec.add_slices();
  embedding->set_name("embedding");
  embedding->set_width(embedding_width);
  embedding->mutable_initializer()->set_kind(proto::Initializer::UNIFORM);
  embedding->mutable_initializer()->set_scale(0.01f);
  for (proto::Slice* slice : {weight, embedding}) {
    slice->mutable_optimizer()->set_kind(proto::Optimizer::ADAGRAD);
    slice->mutable_optimizer()->set_learning_rate(rate);
  }
  return spec;
}

proto::DenseSpec ParameterSpec(const MlpParameter& parameter, float rate) {
  proto::DenseSpec spec;
  spec.set_name(parameter.name);
  spec.set_size(parameter.size);
  if (!parameter.bias) {
    // He et al. 2015, equation 10, as a uniform distribution: variance 2 / fan_in.
    spec.mutable_initializer()->set_kind(proto::Initializer::UNIFORM);
    spec.mutable_initializer()->set_scale(std::sqrt(6.0f / parameter.fan_in));
  }
  spec.mutable_optimizer()->set_kind(proto::Optimizer::ADAM);
  spec.mutable_optimizer()->set_learning_rate(rate);
  return spec;
}

}  // namespace

proto::CtrModelSpec DefaultCtrModelSpec() {
  proto::CtrModelSpec spec;
  spec.set_key_version(kKeyVersion);
  spec.set_embedding_width(16);
  spec.add_hidden_widths(256);
  spec.add_hidden_widths(128);
  for (int i = 1; i <= 13; ++i) spec.add_number_columns(absl::StrCat("I", i));
  for (int i = 1; i <= Batch::kKeys; ++i) spec.add_category_columns(absl::StrCat("C", i));
  spec.set_table("ctr");
  return spec;
}

absl::Status CheckCtrModelSpec(const proto::CtrModelSpec& spec) {
  const proto::CtrModelSpec known = DefaultCtrModelSpec();
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  };
  if (spec.key_version() != known.key_version()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model's keys have version ", spec.key_version(), ", this program makes ", kKeyVersion));
  }
  if (!same(spec.number_columns(), known.number_columns()) ||
      !same(spec.category_columns(), known.category_columns())) {
    return absl::InvalidArgumentError("the model's columns are not those of Criteo's layout, I1..I13 and C1..C26");
  }
  if (spec.embedding_width() < 1 || spec.embedding_width() > 1024 || spec.hidden_widths_size() > 16) {
    return absl::InvalidArgumentError(absl::StrCat("a model with embeddings of ", spec.embedding_width(),
                                                   " floats and ", spec.hidden_widths_size(), " hidden layers"));
  }
  for (const uint32_t width : spec.hidden_widths()) {
    if (width < 1 || width > 65536) {
      return absl::InvalidArgumentError(absl::StrCat("a model with a hidden layer of width ", width));
    }
  }
  return absl::OkStatus();
}

CtrModel::CtrModel(const proto::CtrModelSpec& spec, ThreadPool* pool)
    : embedding_width_(spec.embedding_width()),
      table_name_(spec.table()),
      tower_("tower", TowerDims(spec)),
      pool_(pool),
      pieces_(&tower_, pool) {
  for (const MlpParameter& parameter : tower_.parameters()) {
    parameters_.emplace_back(parameter.size);
    gradients_.emplace_back(parameter.size);
  }
}

absl::Status CtrModel::Open(const CtrRates& rates, Client* client) {
  ROWAN_ASSIGN_OR_RETURN(table_, client->OpenTable(RowSpec(table_name_, embedding_width_, rates.rows)));
  for (const MlpParameter& parameter : tower_.parameters()) {
    ROWAN_ASSIGN_OR_RETURN(Dense dense, client->OpenDense(ParameterSpec(parameter, rates.dense)));
    dense_.push_back(std::move(dense));
  }
  return absl::OkStatus();
}

std::vector<RowsPull> CtrModel::RowsOf(const CtrBatch& batch) {
  rows_.resize(batch.keys.size() * row_width());
  return {{table_, batch.keys, absl::MakeSpan(rows_), {}}};
}

std::vector<DenseWhole> CtrModel::DenseParameters() {
  std::vector<DenseWhole> wanted;
  for (size_t i = 0; i < dense_.size(); ++i) wanted.push_back({dense_[i], absl::MakeSpan(parameters_[i])});
  return wanted;
}

void CtrModel::Reserve(int64_t samples) {
  if (samples > capacity_) {
    inputs_ = hwy::AllocateAligned<float>(samples * tower_.input_width());
    capacity_ = samples;
  }
  first_order_.resize(samples);
  logits_.resize(samples);
  dlogits_.resize(samples);
}

void CtrModel::FillInputs(const CtrBatch& batch, int64_t begin, int64_t end) {
  const int64_t n = batch.batch.size;
  const int64_t width = tower_.input_width();
  for (int64_t i = begin; i < end; ++i) {
    float* x = inputs_.get() + i * width;
    std::memcpy(x, &batch.batch.numbers[i * Batch::kNumbers], Batch::kNumbers * sizeof(float));
    x += Batch::kNumbers;
    float first_order = 0;
    for (int c = 0; c < Batch::kKeys; ++c, x += embedding_width_) {
      const float* const row = &rows_[batch.places[c * n + i] * row_width()];
      first_order += row[0];
      std::memcpy(x, row + 1, embedding_width_ * sizeof(float));
    }
    first_order_[i] = first_order;
  }
}

CtrModel::Result CtrModel::Train(const CtrBatch& batch) {
  const int64_t n = batch.batch.size;
  Reserve(n);
  std::vector<const float*> parameters;
  std::vector<float*> gradients;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    parameters.push_back(parameters_[i].data());
    gradients.push_back(gradients_[i].data());
  }
  struct alignas(64) PieceSum {
    double loss = 0;
    Stopwatch watch;
    absl::Duration forward;
    absl::Duration backward;
  };
  std::array<PieceSum, kPieces> sums;
  pieces_.Run(
      parameters, inputs_.get(), n,
      [&](const PiecewiseMlp::Block& block) {
        sums[block.piece].watch.Lap();
        FillInputs(batch, block.begin, block.end);
      },
      [&](const PiecewiseMlp::Block& block, const float* logits, float* dlogits) {
        for (int64_t i = block.begin; i < block.end; ++i) logits_[i] = logits[i - block.begin] + first_order_[i];
        const int64_t size = block.end - block.begin;
        sums[block.piece].loss += SigmoidCrossEntropy(&logits_[block.begin], &batch.batch.labels[block.begin],
                                                      /*weights=*/nullptr, size, dlogits, /*probabilities=*/nullptr);
        std::memcpy(&dlogits_[block.begin], dlogits, size * sizeof(float));
        sums[block.piece].forward += sums[block.piece].watch.Lap();
      },
      /*from=*/Batch::kNumbers, /*dx=*/inputs_.get(),
      [&](const PiecewiseMlp::Block& block) { sums[block.piece].backward += sums[block.piece].watch.Lap(); },
      gradients);
  Result result;
  for (const PieceSum& sum : sums) {
    result.loss += sum.loss;
    result.forward_time += sum.forward;
    result.backward_time += sum.backward;
  }
  if (!std::isfinite(result.loss)) {
    for (int64_t i = 0; i < n; ++i) {
      if (!std::isfinite(logits_[i])) {
        result.non_finite = i;
        break;
      }
    }
    if (!result.non_finite.has_value()) result.non_finite = 0;
    return result;
  }
  SumRowGradients(batch);
  return result;
}

void CtrModel::SumRowGradients(const CtrBatch& batch) {
  const int64_t n = batch.batch.size;
  const int64_t width = tower_.input_width();
  row_gradients_.resize(batch.keys.size() * row_width());
  // A column's keys are no other column's places: columns are independent, and within one the samples come in order.
  pool_->ParallelFor(Batch::kKeys, [&](int64_t c) {
    float* const sums = row_gradients_.data();
    std::memset(sums + batch.first_key[c] * row_width(), 0,
                (batch.first_key[c + 1] - batch.first_key[c]) * row_width() * sizeof(float));
    const float* dx = inputs_.get() + Batch::kNumbers + c * embedding_width_;
    for (int64_t i = 0; i < n; ++i, dx += width) {
      float* const sum = sums + batch.places[c * n + i] * row_width();
      sum[0] += dlogits_[i];
      for (int64_t j = 0; j < embedding_width_; ++j) sum[1 + j] += dx[j];
    }
  });
}

std::vector<RowsPush> CtrModel::RowGradients(const CtrBatch& batch) const {
  return {{table_, batch.keys, row_gradients_, batch.occurrences}};
}

std::vector<DensePush> CtrModel::DenseGradients() const {
  std::vector<DensePush> pushes;
  for (size_t i = 0; i < dense_.size(); ++i) pushes.push_back({dense_[i], gradients_[i]});
  return pushes;
}

void CtrModel::Predict(const CtrBatch& batch, std::vector<float>* probabilities) {
  const int64_t n = batch.batch.size;
  Reserve(n);
  FillInputs(batch, 0, n);
  std::vector<const float*> parameters;
  for (const std::vector<float>& parameter : parameters_) parameters.push_back(parameter.data());
  pieces_.Predict(parameters, inputs_.get(), n, logits_.data());
  probabilities->resize(n);
  for (int64_t i = 0; i < n; ++i) {
    logits_[i] += first_order_[i];
    (*probabilities)[i] = Sigmoid(logits_[i]);
  }
}

}  // namespace rowan
