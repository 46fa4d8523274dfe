// rowan-ctr predict: one probability a line, in input order, `nan` for a malformed row.
#include <cmath>
#include <cstdio>
#include <memory>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "common/output_file.h"
#include "common/status_macros.h"
#include "worker/examples/ctr/ctr_command_util.h"
#include "worker/examples/ctr/ctr_commands.h"
#include "worker/examples/ctr/ctr_flags.h"
#include "worker/examples/ctr/ctr_score.h"

namespace rowan {
namespace {

// `started` tells whether work has begun: until then what fails is what the user gave.
absl::Status Predict(const Interrupt& interrupt, bool* started) {
  const std::string out = absl::GetFlag(FLAGS_out);
  ROWAN_RETURN_IF_ERROR(CheckWritable("out", out));
  ROWAN_ASSIGN_OR_RETURN(const CtrDataset data, OpenCtrDataset("data", absl::GetFlag(FLAGS_data)));
  ROWAN_ASSIGN_OR_RETURN(StoredModel stored, OpenStoredModel(absl::GetFlag(FLAGS_model_dir), Threads()));

  *started = true;
  ROWAN_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, OutputFile::Create(out));
  int64_t rows = 0, bad = 0;
  std::string text;
  ROWAN_RETURN_IF_ERROR(ScoreRows(
      data, /*max_bad_share=*/1, stored.model.get(), stored.client.get(), [&] { return interrupt.requested(); },
      [&](const CtrScores& scores) -> absl::Status {
        text.clear();
        for (const float p : scores.probabilities) {
          ++rows;
          if (std::isnan(p)) {
            ++bad;
            text += "nan\n";
          } else {
            absl::StrAppendFormat(&text, "%.9g\n", p);
          }
        }
        return file->Write(text);
      }));
  ROWAN_RETURN_IF_ERROR(file->Finish());
  std::printf("model: %s\npredicted: %lld rows, %lld of them malformed (nan), to %s\n", stored.snapshot.c_str(),
              static_cast<long long>(rows), static_cast<long long>(bad), out.c_str());
  return absl::OkStatus();
}

}  // namespace

int RunPredict(const Program&, const CommandLine&, const Interrupt& interrupt) {
  bool started = false;
  const absl::Status status = Predict(interrupt, &started);
  return ExitCode("predict", status, started, interrupt);
}

}  // namespace rowan
