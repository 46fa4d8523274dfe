#include "worker/examples/ctr/ctr_flags.h"

#include <algorithm>
#include <limits>
#include <thread>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "common/flag_rules.h"
#include "common/listen_flags.h"
#include "common/placement.h"

namespace rowan {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

bool WordAndNumber(absl::string_view text, absl::string_view word, int64_t least, int64_t most, int64_t* number) {
  return absl::ConsumePrefix(&text, word) && !text.empty() && text.find_first_not_of("0123456789") == text.npos &&
         absl::SimpleAtoi(text, number) && *number >= least && *number <= most;
}
bool IsShuffle(const std::string& text) {
  int64_t window;
  return text == "none" || text == "epoch" || WordAndNumber(text, "window:", 1, kMax, &window);
}
bool IsMode(const std::string& text) {
  int64_t staleness;
  return text == "sync" || text == "async" || WordAndNumber(text, "bounded:", 0, 1'000'000, &staleness);
}
bool IsEmptyOrTcpAddress(const std::string& text) { return text.empty() || IsTcpAddress(text); }
bool IsShards(int32_t shards) { return shards > 0 && IsValidShardCount(shards); }

}  // namespace
}  // namespace rowan

ABSL_FLAG(int64_t, rows, 600'000, "Rows to generate.");
ROWAN_FLAG_RANGE(rows, 0, 1'000'000'000'000);
ABSL_FLAG(std::string, out, "", "File to write; a name ending in .gz is compressed by `generate`.");
ROWAN_FLAG_CHECK(out, "the path of a file", [](const std::string& path) { return !path.empty(); });
ABSL_FLAG(uint64_t, seed, 1, "Everything random follows from it.");
ABSL_FLAG(int32_t, threads, 0, "Threads that compute; 0: one a core. The results are the same bits for any number.");
ROWAN_FLAG_RANGE(threads, 0, 1024);
ABSL_FLAG(std::string, data, "",
          "Criteo TSV, plain or gzip: a file, a directory, a glob, or several of them separated by commas.");
ABSL_FLAG(std::string, test_data, "", "Rows to evaluate on after training; empty: the last fifth of --data.");
ABSL_FLAG(double, max_bad_share, 0.01, "Share of all rows read that may be malformed; they are counted and left out.");
ROWAN_FLAG_RANGE(max_bad_share, 0.0, 1.0);
ABSL_FLAG(int64_t, batch_size, 2048, "Samples of one step, over all workers.");
ROWAN_FLAG_RANGE(batch_size, 1, 1 << 24);
ABSL_FLAG(int64_t, epochs, 1, "Times that every row is trained on.");
ROWAN_FLAG_RANGE(epochs, 1, 1'000'000);
ABSL_FLAG(std::string, shuffle, "epoch",
          "Order of an epoch: as in the files, shuffled within windows of N rows, or shuffled as a whole.");
ROWAN_FLAG_CHECK(shuffle, "none, window:N or epoch", rowan::IsShuffle);
ABSL_FLAG(bool, pipeline, true, "Read and prepare the next batches while one computes.");
ABSL_FLAG(int32_t, workers, 1, "Workers, as threads of this process; each takes its part of every step.");
ROWAN_FLAG_RANGE(workers, 1, 256);
ABSL_FLAG(int32_t, shards, 256, "Shards of the tables.");
ROWAN_FLAG_CHECK(shards, "a power of two from 1 to 65536", rowan::IsShards);
ABSL_FLAG(std::string, mode, "sync", "What a step sees of other workers: see README.");
ROWAN_FLAG_CHECK(mode, "sync, bounded:S (S from 0 to 1000000) or async", rowan::IsMode);
ABSL_FLAG(std::string, coordinators, "",
          "Train as one worker of the cluster with this coordinator; empty: a whole job in this process.");
ROWAN_FLAG_CHECK(coordinators, "HOST:PORT or [IPv6]:PORT", rowan::IsEmptyOrTcpAddress);
ABSL_FLAG(bool, unix_sockets, true, "Reach servers on this host through their Unix sockets, where they have one.");
ABSL_FLAG(double, row_learning_rate, 0.05, "Adagrad's rate for embeddings and first-order weights; 0: they stay.");
ROWAN_FLAG_RANGE(row_learning_rate, 0.0, 1000.0);
ABSL_FLAG(double, dense_learning_rate, 0.001, "Adam's rate for the tower; 0: it stays.");
ROWAN_FLAG_RANGE(dense_learning_rate, 0.0, 1000.0);
ABSL_FLAG(std::string, model_dir, "rowan-model",
          "Directory of snapshots: `train` adds one at the end (empty: none), the others read the newest.");
ABSL_FLAG(std::string, summary_json, "", "File for the results as JSON; empty: none.");
ABSL_FLAG(bool, profile, false, "Print where the time went.");

namespace rowan {

int64_t ShuffleWindow() {
  const std::string shuffle = absl::GetFlag(FLAGS_shuffle);
  int64_t window = 0;
  if (shuffle == "epoch") return kMax;
  if (shuffle != "none") WordAndNumber(shuffle, "window:", 1, kMax, &window);
  return window;
}

void SetMode(proto::JobSpec* job) {
  const std::string mode = absl::GetFlag(FLAGS_mode);
  int64_t staleness = 0;
  if (mode == "sync") {
    job->set_mode(proto::JobSpec::SYNC);
  } else if (mode == "async") {
    job->set_mode(proto::JobSpec::ASYNC);
  } else {
    WordAndNumber(mode, "bounded:", 0, 1'000'000, &staleness);
    job->set_mode(proto::JobSpec::BOUNDED);
    job->set_staleness(static_cast<uint32_t>(staleness));
  }
}

int Threads() {
  const int threads = absl::GetFlag(FLAGS_threads);
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace rowan
