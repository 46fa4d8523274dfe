#include "worker/data/text_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/data/gunzip.h"

namespace rowan {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

absl::StatusOr<Descriptor> NamelessFile() {
  const char* const variable = std::getenv("TMPDIR");
  const std::string directory = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  std::string path = absl::StrCat(directory, "/rowan-gunzip-XXXXXX");
  Descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (file.get() < 0) return absl::ErrnoToStatus(errno, absl::StrCat(directory, ": cannot create a file there"));
  unlink(path.c_str());
  return file;
}

}  // namespace

absl::Status TextFile::Map(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return absl::ErrnoToStatus(errno, path_);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path_, ": not a regular file"));
  if (info.st_size == 0) return absl::OkStatus();
  void* const mapping = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapping == MAP_FAILED) return absl::ErrnoToStatus(errno, absl::StrCat(path_, ": cannot map it"));
  data_ = static_cast<const char*>(mapping);
  size_ = info.st_size;
  return absl::OkStatus();
}

absl::StatusOr<TextFile> TextFile::Open(const std::string& path) {
  TextFile file;
  file.path_ = path;
  const Descriptor plain(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (plain.get() < 0) return absl::ErrnoToStatus(errno, path);
  ROWAN_RETURN_IF_ERROR(file.Map(plain.get()));
  if (!IsGzip(file.bytes())) return file;

  TextFile text;
  text.path_ = path;
  ROWAN_ASSIGN_OR_RETURN(const Descriptor unpacked, NamelessFile());
  ROWAN_RETURN_IF_ERROR(Gunzip(file.bytes(), path, unpacked.get()));
  ROWAN_RETURN_IF_ERROR(text.Map(unpacked.get()));
  return text;
}

TextFile& TextFile::operator=(TextFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

TextFile::~TextFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

}  // namespace rowan
