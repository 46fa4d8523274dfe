// Input files for tests, in a folder of the running test's own.
#ifndef ROWAN_TESTS_WORKER_DATA_TEMP_FILES_H_
#define ROWAN_TESTS_WORKER_DATA_TEMP_FILES_H_

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace rowan::testing {

// A new empty folder; the test runner removes it.
inline std::string NewFolder() {
  std::string path = absl::StrCat(::testing::TempDir(), "/data-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) std::abort();
  return path;
}

// Writes `content` to folder/name and returns that path.
inline std::string WriteFile(const std::string& folder, absl::string_view name, absl::string_view content) {
  const std::string path = absl::StrCat(folder, "/", name);
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(content.data(), 1, content.size(), file) != content.size()) std::abort();
  std::fclose(file);
  return path;
}

// One gzip member that holds `content`.
inline std::string Gzip(absl::string_view content) {
  z_stream stream = {};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
  std::string out(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = content.size();
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = out.size();
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_WORKER_DATA_TEMP_FILES_H_
