// Summary: the results of a run as one flat JSON object, for scripts.
#ifndef ROWAN_WORKER_TRAIN_SUMMARY_H_
#define ROWAN_WORKER_TRAIN_SUMMARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace rowan {

class Summary {
 public:
  // Fields are written in the order of the calls. A double has 17 digits, so that it reads back to the last bit; one
  // that is empty or not finite is null.
  void Add(absl::string_view name, absl::optional<double> value);
  void Add(absl::string_view name, double value) { Add(name, absl::optional<double>(value)); }
  void Add(absl::string_view name, int64_t value);
  void Add(absl::string_view name, absl::string_view value);

  std::string ToJson() const;
  // Writes the object and a newline, through a temporary name: the file is there whole or as it was before. Does
  // nothing for an empty path.
  absl::Status Write(const std::string& path) const;

 private:
  std::vector<std::string> fields_;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_TRAIN_SUMMARY_H_
