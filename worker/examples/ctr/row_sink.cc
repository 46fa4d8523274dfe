#include "worker/examples/ctr/row_sink.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace rowan {
namespace {

// RFC 1952: deflate, no name, no time, fastest, unknown system.
constexpr absl::string_view kGzipHeader("\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff", 10);
// RFC 1951: a last block with nothing in it.
constexpr absl::string_view kLastBlock("\x03\x00", 2);

std::string Little32(uint32_t x) {
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(x >> shift));
  return out;
}

// Raw deflate blocks that end at a byte and refer to nothing before them.
std::string Deflate(const std::string& text) {
  z_stream stream = {};
  CHECK_EQ(deflateInit2(&stream, /*level=*/1, Z_DEFLATED, /*windowBits=*/-15, /*memLevel=*/9, Z_DEFAULT_STRATEGY), Z_OK)
      << "no memory";
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(&out[0]);
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK_EQ(deflate(&stream, Z_FULL_FLUSH), Z_OK);
  CHECK(stream.avail_in == 0 && stream.avail_out > 0) << "deflateBound was too small for " << text.size() << " bytes";
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

RowSink::RowSink(std::string path, std::string written_path, bool gzip, int fd)
    : path_(std::move(path)), written_path_(std::move(written_path)), gzip_(gzip), fd_(fd) {}

absl::StatusOr<std::unique_ptr<RowSink>> RowSink::Create(absl::string_view path_view) {
  const std::string path(path_view);
  struct stat found;
  const bool special = stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
  std::string written_path = special ? path : path + ".partial";
  const int fd = open(written_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open '", written_path, "' for writing"));
  std::unique_ptr<RowSink> sink(new RowSink(path, std::move(written_path), absl::EndsWith(path, ".gz"), fd));
  if (sink->gzip_) ROWAN_RETURN_IF_ERROR(sink->Write(kGzipHeader));
  return sink;
}

RowSink::~RowSink() {
  if (fd_ >= 0) close(fd_);
  if (!finished_ && written_path_ != path_) unlink(written_path_.c_str());
}

RowSink::Block RowSink::Encode(std::string text) const {
  Block block;
  block.text_bytes = static_cast<int64_t>(text.size());
  if (gzip_) {
    block.text_crc32 = static_cast<uint32_t>(
        crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
    block.bytes = Deflate(text);
  } else {
    block.bytes = std::move(text);
  }
  return block;
}

absl::Status RowSink::Append(const Block& block) {
  text_crc32_ = static_cast<uint32_t>(crc32_combine(text_crc32_, block.text_crc32, block.text_bytes));
  text_bytes_ += static_cast<uint64_t>(block.text_bytes);
  return Write(block.bytes);
}

absl::Status RowSink::Finish() {
  if (gzip_) {
    ROWAN_RETURN_IF_ERROR(
        Write(absl::StrCat(kLastBlock, Little32(text_crc32_), Little32(static_cast<uint32_t>(text_bytes_)))));
  }
  const bool special = written_path_ == path_;
  if (!special && fsync(fd_) != 0) return Failure(errno, "cannot sync");
  const int closed = close(std::exchange(fd_, -1));
  if (closed != 0) return Failure(errno, "cannot close");
  if (!special && rename(written_path_.c_str(), path_.c_str()) != 0) return Failure(errno, "cannot rename into place");
  finished_ = true;
  return absl::OkStatus();
}

absl::Status RowSink::Write(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return Failure(errno, "cannot write");
    }
    bytes_ += n;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status RowSink::Failure(int error_number, absl::string_view what) const {
  return absl::ErrnoToStatus(error_number, absl::StrCat(what, " '", written_path_, "' at byte ", bytes_));
}

}  // namespace rowan
