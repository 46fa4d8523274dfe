#include "common/snapshot/layout.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace rowan {
namespace {

constexpr char kTempPrefix[] = ".tmp-";
constexpr char kSnapshotPrefix[] = "snapshot-";

void StoreBigEndian(uint64_t value, int bytes, char* out) {
  for (int i = bytes - 1; i >= 0; --i, value >>= 8) out[i] = static_cast<char>(value & 0xff);
}

uint64_t LoadBigEndian(const char* in, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(in[i]);
  return value;
}

}  // namespace

std::string SnapshotName(uint64_t id) { return absl::StrFormat("%s%020d", kSnapshotPrefix, id); }

absl::optional<uint64_t> ParseSnapshotName(absl::string_view name) {
  absl::string_view digits = name;
  uint64_t id;
  if (!absl::ConsumePrefix(&digits, kSnapshotPrefix) || !absl::SimpleAtoi(digits, &id)) return absl::nullopt;
  if (SnapshotName(id) != name) return absl::nullopt;  // Signs, spaces, another number of digits.
  return id;
}

std::string TempSnapshotName(uint64_t id) { return kTempPrefix + SnapshotName(id); }

bool IsTempSnapshotName(absl::string_view name) {
  return absl::ConsumePrefix(&name, kTempPrefix) && ParseSnapshotName(name).has_value();
}

std::string ShardFileName(uint32_t shard) { return absl::StrFormat("shard-%05d.sst", shard); }

void StoreSnapshotKey(const SnapshotKey& key, char* out) {
  StoreBigEndian(key.shard, 2, out);
  StoreBigEndian(key.table, 4, out + 2);
  StoreBigEndian(key.key, 8, out + 6);
}

absl::optional<SnapshotKey> LoadSnapshotKey(absl::string_view bytes) {
  if (bytes.size() != kSnapshotKeyBytes) return absl::nullopt;
  SnapshotKey key;
  key.shard = static_cast<uint32_t>(LoadBigEndian(bytes.data(), 2));
  key.table = static_cast<uint32_t>(LoadBigEndian(bytes.data() + 2, 4));
  key.key = LoadBigEndian(bytes.data() + 6, 8);
  return key;
}

}  // namespace rowan
