#include "server/table/catalog_name.h"

#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace rowan {

bool IsUtf8(absl::string_view bytes) {
  while (!bytes.empty()) {
    const uint8_t lead = bytes[0];
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || bytes.size() < length) return false;
    for (size_t i = 1; i < length; ++i) {
      if ((static_cast<uint8_t>(bytes[i]) & 0xc0) != 0x80) return false;
    }
    const uint8_t second = length > 1 ? bytes[1] : 0;
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) || (lead == 0xf0 && second < 0x90) ||
        (lead == 0xf4 && second > 0x8f)) {
      return false;
    }
    bytes.remove_prefix(length);
  }
  return true;
}

absl::Status CheckCatalogName(absl::string_view kind, absl::string_view name) {
  if (name.empty() || name.size() > 255) {
    return absl::InvalidArgumentError(absl::StrCat(kind, "'s name has ", name.size(), " bytes, must have 1 to 255"));
  }
  if (!IsUtf8(name)) {
    return absl::InvalidArgumentError(absl::StrCat(kind, "'s name is not UTF-8: '", absl::CHexEscape(name), "'"));
  }
  return absl::OkStatus();
}

}  // namespace rowan
