// The click generator: rows of ClickModel as Criteo TSV.
//
// A line: label, 13 integers in decimal, 26 ids as 8 lower-case hexadecimal digits; between them tabs, missing fields
// empty, "\n" at the end. The file is a pure function of (rows, seed) on every machine, for any number of threads;
// compressed files are equal after decompression (their bytes also depend on the version of zlib).
#ifndef ROWAN_WORKER_EXAMPLES_CTR_GENERATOR_H_
#define ROWAN_WORKER_EXAMPLES_CTR_GENERATOR_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "worker/examples/ctr/click_model.h"

namespace rowan {

struct GeneratorOptions {
  int64_t rows = 600000;
  uint64_t seed = 1;
  int threads = 1;
  std::function<bool()> stop = nullptr;  // Asked between blocks of rows, if not null; true ends it.
};

struct GeneratorReport {
  int64_t rows = 0;
  int64_t clicks = 0;
  // The area under the ROC curve of the true probabilities: what no model can beat but by luck. Nothing where all
  // rows carry the same label.
  absl::optional<double> best_auc_all;
  // The same of the rows that are the test part by default: all but the first rows - rows / 5.
  absl::optional<double> best_auc_last_fifth;
};

// Appends `row` as one line.
void AppendTsvLine(const ClickRow& row, std::string* out);

// Writes rows 0 .. rows - 1 to `path`, gzip where it ends in ".gz"; replaces a file of that name once all is written,
// and leaves it alone on error. Takes up to 16 bytes of memory a row, and about 3 MB a thread.
// Cancelled, nothing left behind: `stop` said so. InvalidArgument: rows < 0 or threads < 1. Otherwise errors of the file, naming it.
absl::StatusOr<GeneratorReport> WriteRows(const GeneratorOptions& options, absl::string_view path);

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_GENERATOR_H_
