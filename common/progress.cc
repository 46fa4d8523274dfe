#include "common/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace rowan {
namespace {

// A terminal that can clear the rest of a line.
bool IsLive(int fd) {
  const char* term = getenv("TERM");
  return isatty(fd) == 1 && term != nullptr && absl::string_view(term) != "dumb";
}

size_t WidthOf(int fd) {
  winsize size = {};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// At most `width` characters of `text`, whole ones if it is UTF-8.
std::string Clipped(absl::string_view text, size_t width) {
  std::string out;
  size_t characters = 0;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (!continues && ++characters > width) break;
    out += absl::ascii_iscntrl(static_cast<unsigned char>(c)) ? ' ' : c;
  }
  return out;
}

void WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // A closed stderr is no reason to stop working.
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

ProgressLine::ProgressLine(const Options& options) : options_(options), live_(IsLive(options.fd)) {}

ProgressLine::~ProgressLine() {
  MutexLock lock(&mu_);
  if (open_) WriteAll(options_.fd, "\n");
}

bool ProgressLine::Due() const {
  MutexLock lock(&mu_);
  return DueLocked();
}

void ProgressLine::Update(absl::string_view text) {
  MutexLock lock(&mu_);
  if (DueLocked()) Write(text, /*end=*/false);
}

void ProgressLine::Finish(absl::string_view text) {
  MutexLock lock(&mu_);
  Write(text, /*end=*/true);
}

bool ProgressLine::DueLocked() const {
  return options_.clock->Now() - last_ >= (live_ ? options_.live_interval : options_.plain_interval);
}

void ProgressLine::Write(absl::string_view text, bool end) {
  last_ = options_.clock->Now();
  open_ = live_ && !end;
  if (!live_) {
    WriteAll(options_.fd, absl::StrCat(Clipped(text, text.size()), "\n"));
    return;
  }
  // The last column stays free: some terminals go to the next line when it is filled.
  WriteAll(options_.fd, absl::StrCat("\r", Clipped(text, WidthOf(options_.fd) - 1), "\x1b[K", end ? "\n" : ""));
}

}  // namespace rowan
