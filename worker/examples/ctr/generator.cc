#include "worker/examples/ctr/generator.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/thread_pool.h"
#include "worker/examples/ctr/row_sink.h"

namespace rowan {
namespace {

constexpr int64_t kBlockRows = 4096;  // Rows encoded as one piece: fixes the bytes of compressed files.

// True probabilities by label, from which the exact AUC follows.
struct Scores {
  std::vector<double> clicked;
  std::vector<double> passed;

  void Add(const ClickRow& row) { (row.click ? clicked : passed).push_back(row.probability); }

  void Append(const Scores& other) {
    clicked.insert(clicked.end(), other.clicked.begin(), other.clicked.end());
    passed.insert(passed.end(), other.passed.begin(), other.passed.end());
  }

  // The share of (clicked, passed) pairs in the right order, ties counted half. Sorts.
  absl::optional<double> Auc() {
    if (clicked.empty() || passed.empty()) return absl::nullopt;
    std::sort(clicked.begin(), clicked.end());
    std::sort(passed.begin(), passed.end());
    double right = 0;
    size_t below = 0, not_above = 0;  // Of `passed`, against the click at hand.
    for (double p : clicked) {
      while (below < passed.size() && passed[below] < p) ++below;
      while (not_above < passed.size() && passed[not_above] <= p) ++not_above;
      right += 0.5 * (static_cast<double>(below) + static_cast<double>(not_above));
    }
    return right / static_cast<double>(clicked.size()) / static_cast<double>(passed.size());
  }
};

struct Piece {
  RowSink::Block block;
  Scores train;
  Scores test;
};

void AppendHex(uint32_t x, std::string* out) {
  char digits[8];
  for (int k = 7; k >= 0; --k, x >>= 4) digits[k] = "0123456789abcdef"[x & 15];
  out->append(digits, sizeof digits);
}

}  // namespace

void AppendTsvLine(const ClickRow& row, std::string* out) {
  out->push_back(row.click ? '1' : '0');
  for (int64_t x : row.integers) {
    out->push_back('\t');
    if (x != ClickRow::kNoInteger) absl::StrAppend(out, x);
  }
  for (int c = 0; c < kCategoricalColumns; ++c) {
    out->push_back('\t');
    if (row.ids[c] != ClickRow::kNoId) AppendHex(CategoricalToken(c, row.ids[c]), out);
  }
  out->push_back('\n');
}

absl::StatusOr<GeneratorReport> WriteRows(const GeneratorOptions& options, absl::string_view path) {
  if (options.rows < 0) return absl::InvalidArgumentError(absl::StrCat("rows is ", options.rows, ", must be >= 0"));
  if (options.threads < 1) {
    return absl::InvalidArgumentError(absl::StrCat("threads is ", options.threads, ", must be >= 1"));
  }
  ROWAN_ASSIGN_OR_RETURN(std::unique_ptr<RowSink> sink, RowSink::Create(path));
  const ClickModel model;
  const int64_t train_rows = options.rows - options.rows / 5;
  const int64_t blocks = options.rows / kBlockRows + (options.rows % kBlockRows != 0);
  Scores train, test;
  ThreadPool pool(options.threads);
  std::vector<Piece> pieces;
  for (int64_t first = 0; first < blocks; first += static_cast<int64_t>(pieces.size())) {
    if (options.stop && options.stop()) return absl::CancelledError("interrupted");
    pieces.assign(static_cast<size_t>(std::min<int64_t>(options.threads, blocks - first)), Piece());
    pool.ParallelFor(static_cast<int64_t>(pieces.size()), [&](int64_t p) {
      Piece& piece = pieces[static_cast<size_t>(p)];
      const int64_t begin = (first + p) * kBlockRows;
      const int64_t end = std::min(begin + kBlockRows, options.rows);
      std::string text;
      for (int64_t i = begin; i < end; ++i) {
        const ClickRow row = model.Row(options.seed, i);
        (i < train_rows ? piece.train : piece.test).Add(row);
        AppendTsvLine(row, &text);
      }
      piece.block = sink->Encode(std::move(text));
    });
    for (const Piece& piece : pieces) {
      train.Append(piece.train);
      test.Append(piece.test);
      ROWAN_RETURN_IF_ERROR(sink->Append(piece.block));
    }
  }
  ROWAN_RETURN_IF_ERROR(sink->Finish());
  GeneratorReport report;
  report.rows = options.rows;
  report.best_auc_last_fifth = test.Auc();
  train.Append(test);
  report.best_auc_all = train.Auc();
  report.clicks = static_cast<int64_t>(train.clicked.size());
  return report;
}

}  // namespace rowan
