// ProgressLine: tells how far the work is, on stderr.
//
// On a terminal one line is rewritten in place, clipped to the terminal's width; elsewhere a plain line is written at
// most every `plain_interval`, so that a log file stays readable. Thread-safe.
//
//   rowan::ProgressLine progress;
//   for (...) if (progress.Due()) progress.Update(absl::StrCat("step ", step, ...));
//   progress.Finish("step 300, loss 0.51");
#ifndef ROWAN_COMMON_PROGRESS_H_
#define ROWAN_COMMON_PROGRESS_H_

#include <unistd.h>

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace rowan {

class ProgressLine {
 public:
  struct Options {
    Options() {}
    int fd = STDERR_FILENO;                                  // Not owned.
    absl::Duration live_interval = absl::Milliseconds(200);  // Between two updates of a terminal's line.
    absl::Duration plain_interval = absl::Seconds(10);       // Between two plain lines.
    Clock* clock = Clock::Real();                            // Not owned.
  };

  explicit ProgressLine(const Options& options = Options());
  // Ends the line if it is unfinished, so that what follows begins on a new one.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Whether Update() would write: lets the caller save the work of making the text. The first one is due at once.
  bool Due() const ABSL_LOCKS_EXCLUDED(mu_);

  // Writes `text`, one line without its end, if it is due. Control characters in it are written as spaces.
  void Update(absl::string_view text) ABSL_LOCKS_EXCLUDED(mu_);

  // Writes `text` in any case, and ends the line. A later Update begins a new one.
  void Finish(absl::string_view text) ABSL_LOCKS_EXCLUDED(mu_);

  // Whether a line is rewritten in place.
  bool live() const { return live_; }

 private:
  bool DueLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Write(absl::string_view text, bool end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const bool live_;
  mutable Mutex mu_;
  absl::Time last_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();  // The last write.
  bool open_ ABSL_GUARDED_BY(mu_) = false;                       // Whether the terminal's cursor is inside a line.
};

}  // namespace rowan

#endif  // ROWAN_COMMON_PROGRESS_H_
