#include "common/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/random_id.h"

namespace rowan {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A name beside `path` that nothing has, hidden from those who list a folder for input.
std::string TemporaryName(const std::string& path) {
  constexpr size_t kMostKept = 200;  // bytes: names end at 255
  const std::string name = path.substr(path.find_last_of('/') + 1, kMostKept);
  return absl::StrCat(FolderOf(path), "/.", name, ".", absl::Hex(RandomId()));
}

}  // namespace

absl::Status OutputFile::Check(const std::string& path) {
  const auto refused = [&](const auto&... why) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", why...)); };
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return refused("is a directory, must be a file");
  if (exists && !S_ISREG(info.st_mode)) {
    if (access(path.c_str(), W_OK) != 0) return refused("cannot write to it: ", std::strerror(errno));
    return absl::OkStatus();
  }
  const std::string folder = FolderOf(path);
  if (stat(folder.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) return refused(folder, " is not a directory");
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return refused("cannot write into ", folder, ": ", std::strerror(errno));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path) {
  struct stat info;
  const bool special = stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  std::string written_path = special ? path : TemporaryName(path);
  // Not mkostemp, which would ignore the umask.
  const int flags = special ? O_TRUNC : O_CREAT | O_EXCL;
  const int fd = open(written_path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  return absl::WrapUnique(new OutputFile(path, std::move(written_path), fd));
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!finished_ && written_path_ != path_) unlink(written_path_.c_str());
}

absl::Status OutputFile::Write(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return absl::ErrnoToStatus(errno, absl::StrCat(path_, ": cannot write at byte ", bytes_));
    }
    bytes_ += written;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Finish() {
  if (written_path_ != path_ && fsync(fd_) != 0) return absl::ErrnoToStatus(errno, path_);
  if (close(std::exchange(fd_, -1)) != 0) return absl::ErrnoToStatus(errno, path_);
  if (written_path_ != path_ && std::rename(written_path_.c_str(), path_.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, path_);
  }
  finished_ = true;
  return absl::OkStatus();
}

}  // namespace rowan
