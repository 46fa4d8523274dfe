#include "worker/data/file_set.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace rowan {
namespace {

using Paths = std::vector<std::string>;

absl::Status SystemError(const std::string& path) { return absl::ErrnoToStatus(errno, path); }

bool Exists(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0;
}

absl::Status AddFile(const std::string& path, Paths* paths) {
  if (faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) return SystemError(path);
  paths->push_back(path);
  return absl::OkStatus();
}

absl::Status AddDirectory(const std::string& directory, Paths* paths) {
  DIR* const handle = opendir(directory.c_str());
  if (handle == nullptr) return SystemError(directory);
  const absl::string_view slash = directory.back() == '/' ? "" : "/";
  const size_t before = paths->size();
  absl::Status status;
  while (status.ok()) {
    errno = 0;
    const dirent* const entry = readdir(handle);
    if (entry == nullptr) {
      if (errno != 0) status = SystemError(directory);
      break;
    }
    if (entry->d_name[0] == '.' || entry->d_name[0] == '_') continue;
    const std::string path = absl::StrCat(directory, slash, entry->d_name);
    struct stat info;
    if (stat(path.c_str(), &info) != 0) {
      status = SystemError(path);
    } else if (S_ISREG(info.st_mode)) {
      status = AddFile(path, paths);
    }
  }
  closedir(handle);
  if (status.ok() && paths->size() == before) {
    return absl::NotFoundError(
        absl::StrCat(directory, ": no files in this directory (names that begin with '.' or '_' do not count)"));
  }
  return status;
}

absl::Status AddPath(const std::string& path, Paths* paths) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return SystemError(path);
  if (S_ISDIR(info.st_mode)) return AddDirectory(path, paths);
  if (S_ISREG(info.st_mode)) return AddFile(path, paths);
  return absl::InvalidArgumentError(absl::StrCat(path, ": neither a regular file nor a directory"));
}

absl::Status AddGlob(const std::string& pattern, Paths* paths) {
  glob_t found = {};
  const int result = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  absl::Status status;
  if (result == GLOB_NOMATCH) {
    status = absl::NotFoundError(absl::StrCat(pattern, ": no file matches"));
  } else if (result != 0) {
    status = SystemError(pattern);
  }
  for (size_t i = 0; status.ok() && i < found.gl_pathc; ++i) status = AddPath(found.gl_pathv[i], paths);
  globfree(&found);
  return status;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandFiles(absl::string_view files) {
  Paths parts;
  if (Exists(std::string(files))) {
    parts.emplace_back(files);
  } else {
    for (absl::string_view part : absl::StrSplit(files, ',')) {
      part = absl::StripAsciiWhitespace(part);
      if (!part.empty()) parts.emplace_back(part);
    }
  }
  if (parts.empty()) return absl::InvalidArgumentError(absl::StrCat("no files named by '", files, "'"));

  Paths paths;
  for (const std::string& part : parts) {
    const bool is_glob = part.find_first_of("*?[") != std::string::npos && !Exists(part);
    ROWAN_RETURN_IF_ERROR(is_glob ? AddGlob(part, &paths) : AddPath(part, &paths));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

}  // namespace rowan
