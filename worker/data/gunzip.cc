#include "worker/data/gunzip.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace rowan {
namespace {

constexpr size_t kOutBytes = 1 << 18;
constexpr size_t kMaxInBytes = 1 << 30;  // zlib counts in 32 bits.

absl::Status WriteAll(int fd, const unsigned char* data, size_t size, absl::string_view name) {
  while (size > 0) {
    const ssize_t written = write(fd, data, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      return absl::ErrnoToStatus(errno, absl::StrCat(name, ": cannot write its decompressed bytes"));
    }
    data += written;
    size -= written;
  }
  return absl::OkStatus();
}

struct Inflater {
  z_stream stream = {};
  bool ready = inflateInit2(&stream, 15 + 16) == Z_OK;  // 16: expect a gzip header and check its CRC.
  ~Inflater() { inflateEnd(&stream); }
};

}  // namespace

bool IsGzip(absl::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

absl::Status Gunzip(absl::string_view bytes, absl::string_view name, int fd) {
  Inflater inflater;
  if (!inflater.ready) return absl::ResourceExhaustedError(absl::StrCat(name, ": no memory to decompress it"));
  z_stream& stream = inflater.stream;
  const auto out = std::make_unique<unsigned char[]>(kOutBytes);
  size_t begin = 0;  // bytes[begin..] is not yet read.
  while (true) {
    const size_t in = std::min(bytes.size() - begin, kMaxInBytes);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + begin));
    stream.avail_in = in;
    stream.next_out = out.get();
    stream.avail_out = kOutBytes;
    const int result = inflate(&stream, Z_NO_FLUSH);
    begin += in - stream.avail_in;
    ROWAN_RETURN_IF_ERROR(WriteAll(fd, out.get(), kOutBytes - stream.avail_out, name));
    if (result == Z_STREAM_END) {
      const absl::string_view rest = bytes.substr(begin);
      if (rest.find_first_not_of('\0') == absl::string_view::npos) return absl::OkStatus();
      if (!IsGzip(rest)) {
        return absl::DataLossError(absl::StrCat(name, ": not gzip any more at byte ", begin, " of ", bytes.size()));
      }
      inflateReset(&stream);
    } else if (result == Z_BUF_ERROR && begin == bytes.size()) {
      return absl::DataLossError(absl::StrCat(name, ": gzip data ends early, at byte ", begin));
    } else if (result != Z_OK) {
      return absl::DataLossError(absl::StrCat(name, ": corrupt gzip data at byte ", begin, " of ", bytes.size(), ": ",
                                              stream.msg != nullptr ? stream.msg : zError(result)));
    }
  }
}

}  // namespace rowan
