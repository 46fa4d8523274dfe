#include "worker/train/summary.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace rowan {
namespace {

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\", absl::string_view(&c, 1));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", c);
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

}  // namespace

void Summary::Add(absl::string_view name, absl::optional<double> value) {
  fields_.push_back(absl::StrCat(
      Quoted(name), ": ", value.has_value() && std::isfinite(*value) ? absl::StrFormat("%.17g", *value) : "null"));
}

void Summary::Add(absl::string_view name, int64_t value) {
  fields_.push_back(absl::StrCat(Quoted(name), ": ", value));
}

void Summary::Add(absl::string_view name, absl::string_view value) {
  fields_.push_back(absl::StrCat(Quoted(name), ": ", Quoted(value)));
}

std::string Summary::ToJson() const { return absl::StrCat("{", absl::StrJoin(fields_, ", "), "}"); }

absl::Status Summary::Write(const std::string& path) const {
  if (path.empty()) return absl::OkStatus();
  const std::string temporary = path + ".tmp";
  const auto failed = [&] {
    const absl::Status status = absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
    std::remove(temporary.c_str());
    return status;
  };
  std::FILE* const file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) return failed();
  const bool written = std::fputs((ToJson() + "\n").c_str(), file) >= 0;
  if (std::fclose(file) != 0 || !written) return failed();
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return failed();
  return absl::OkStatus();
}

}  // namespace rowan
