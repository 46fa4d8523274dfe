// rowan-ctr predict: one probability a line, in input order, `nan` for a malformed row.
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "worker/examples/ctr/ctr_command_util.h"
#include "worker/examples/ctr/ctr_commands.h"
#include "worker/examples/ctr/ctr_flags.h"
#include "worker/examples/ctr/ctr_score.h"

namespace rowan {
namespace {

absl::Status Predict(const Interrupt& interrupt) {
  const std::string out = absl::GetFlag(FLAGS_out);
  ROWAN_RETURN_IF_ERROR(CheckWritable("out", out));
  ROWAN_ASSIGN_OR_RETURN(const CtrDataset data, OpenCtrDataset(absl::GetFlag(FLAGS_data)));
  ROWAN_ASSIGN_OR_RETURN(StoredModel stored, OpenStoredModel(absl::GetFlag(FLAGS_model_dir), Threads()));

  const std::string temporary = out + ".tmp";
  const auto failed = [&] { return absl::UnavailableError(absl::StrCat(out, ": ", std::strerror(errno))); };
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) return failed();
  auto abandon = absl::MakeCleanup([&] {
    if (file != nullptr) std::fclose(file);
    std::remove(temporary.c_str());
  });
  int64_t rows = 0, bad = 0;
  std::string text;
  ROWAN_RETURN_IF_ERROR(ScoreRows(data, /*max_bad_share=*/1, stored.model.get(), stored.client.get(),
                                  [&] { return interrupt.requested(); },
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
                                    if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) return failed();
                                    return absl::OkStatus();
                                  }));
  const bool closed = std::fclose(file) == 0;
  file = nullptr;
  if (!closed || std::rename(temporary.c_str(), out.c_str()) != 0) return failed();
  std::move(abandon).Cancel();
  std::printf("model: %s\npredicted: %lld rows, %lld of them malformed (nan), to %s\n", stored.snapshot.c_str(),
              static_cast<long long>(rows), static_cast<long long>(bad), out.c_str());
  return absl::OkStatus();
}

}  // namespace

int RunPredict(const Program&, const CommandLine&, const Interrupt& interrupt) {
  return ExitCode("predict", Predict(interrupt), interrupt);
}

}  // namespace rowan
