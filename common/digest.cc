#include "common/digest.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/row_format.h"

namespace rowan {
namespace {

constexpr int64_t kHashBytes = 16;
constexpr int64_t kHashedHeaderBytes = 18;

void StoreHash(XXH128_hash_t hash, char* out) {
  std::memcpy(out, &hash.low64, 8);
  std::memcpy(out + 8, &hash.high64, 8);
}

}  // namespace

DigestTable::DigestTable(Kind kind, absl::string_view name) {
  const std::string bytes = absl::StrCat(absl::string_view(kind == Kind::kTable ? "\0" : "\1", 1), name);
  StoreHash(XXH3_128bits(bytes.data(), bytes.size()), hash_);
}

void Digest::AddRow(const DigestTable& table, const char* block, int64_t block_bytes) {
  char record[kHashBytes + kHashedHeaderBytes + kHashBytes];
  std::memcpy(record, table.hash_, kHashBytes);
  std::memcpy(record + kHashBytes, block, kHashedHeaderBytes);
  StoreHash(XXH3_128bits(block + kRowHeaderBytes, block_bytes - kRowHeaderBytes),
            record + kHashBytes + kHashedHeaderBytes);
  const XXH128_hash_t hash = XXH3_128bits(record, sizeof(record));
  sum_ += absl::MakeUint128(hash.high64, hash.low64);
}

std::string Digest::ToHex() const {
  return absl::StrFormat("%016x%016x", absl::Uint128High64(sum_), absl::Uint128Low64(sum_));
}

absl::StatusOr<Digest> Digest::Parse(absl::string_view hex) {
  absl::uint128 sum = 0;
  bool valid = hex.size() == 32;
  for (const char c : hex) {
    valid = valid && absl::ascii_isxdigit(static_cast<unsigned char>(c));
    sum = (sum << 4) | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  if (!valid) {
    return absl::InvalidArgumentError(
        absl::StrCat("digest \"", absl::CEscape(hex.substr(0, 64)), "\": takes 32 hexadecimal digits"));
  }
  Digest digest;
  digest.sum_ = sum;
  return digest;
}

}  // namespace rowan
