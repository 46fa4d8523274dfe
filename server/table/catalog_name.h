// The names of tables and dense parameters: 1 to 255 bytes of UTF-8, since they travel and are stored as proto3
// strings, which cannot be read back otherwise. Thread-safe.
#ifndef ROWAN_SERVER_TABLE_CATALOG_NAME_H_
#define ROWAN_SERVER_TABLE_CATALOG_NAME_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace rowan {

// Well-formed in the sense of Unicode 14, table 3-7: no surrogates, nothing overlong, nothing beyond U+10FFFF.
bool IsUtf8(absl::string_view bytes);

// InvalidArgument, beginning with `kind` ("a table"), for a name that is none.
absl::Status CheckCatalogName(absl::string_view kind, absl::string_view name);

}  // namespace rowan

#endif  // ROWAN_SERVER_TABLE_CATALOG_NAME_H_
