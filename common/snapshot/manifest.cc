#include "common/snapshot/manifest.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/crc32c.h"
#include "common/placement.h"
#include "common/rocksdb_status.h"
#include "common/snapshot/file_checksum.h"
#include "common/snapshot/layout.h"
#include "common/status_macros.h"

namespace rowan {
namespace {

constexpr char kChecksumPrefix[] = "# crc32c ";
constexpr size_t kChecksumLineBytes = sizeof(kChecksumPrefix) - 1 + 8 + 1;
constexpr char kVersionPrefix[] = "format_version: ";

std::string ChecksumLine(uint32_t crc) { return absl::StrFormat("%s%08x\n", kChecksumPrefix, crc); }

// The eight digits of `line`, or an empty string if it is not a checksum line.
absl::string_view ChecksumDigits(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, kChecksumPrefix) || !absl::ConsumeSuffix(&line, "\n")) return {};
  for (const char c : line) {
    if (!absl::ascii_isdigit(c) && (c < 'a' || c > 'f')) return {};
  }
  return line;
}

// Keeps the first error; warnings, which ignored fields give, are dropped.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The number in the first line, which Encode makes the format version's; 0 if there is none.
uint32_t VersionOf(absl::string_view text) {
  uint32_t version = 0;
  if (!absl::ConsumePrefix(&text, kVersionPrefix)) return 0;
  return absl::SimpleAtoi(text.substr(0, text.find('\n')), &version) ? version : 0;
}

bool IsHexDigest(absl::string_view digest) {
  if (digest.size() != 32) return false;
  for (const char c : digest) {
    if (!absl::ascii_isxdigit(c)) return false;
  }
  return true;
}

}  // namespace

std::string EncodeManifest(const proto::SnapshotManifest& manifest) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  std::string text;
  printer.PrintToString(manifest, &text);
  return text + ChecksumLine(Crc32c(text));
}

absl::StatusOr<proto::SnapshotManifest> ParseManifest(absl::string_view bytes, absl::string_view name) {
  const size_t text_bytes = bytes.size() < kChecksumLineBytes ? 0 : bytes.size() - kChecksumLineBytes;
  const absl::string_view text = bytes.substr(0, text_bytes);
  const absl::string_view digits = ChecksumDigits(bytes.substr(text_bytes));
  if (digits.empty()) {
    return absl::DataLossError(absl::StrCat(name, " at byte ", text_bytes, " of ", bytes.size(), ": no line '",
                                            kChecksumPrefix, "' with 8 digits at its end: cut short or edited"));
  }
  const std::string seen = absl::StrFormat("%08x", Crc32c(text));
  if (digits != seen) {
    return absl::DataLossError(absl::StrCat(name, ", bytes 0 to ", text_bytes, ": crc32c ", seen, ", expected ", digits,
                                            ": edited or damaged"));
  }
  const uint32_t version = VersionOf(text);
  if (version != kSnapshotFormatVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": format version ", version, "; this build reads version ", kSnapshotFormatVersion));
  }
  proto::SnapshotManifest manifest;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(text), &manifest)) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": undamaged, but this build cannot read it: ", error.text()));
  }
  const absl::Status check = CheckManifest(manifest);
  if (!check.ok()) return absl::InvalidArgumentError(absl::StrCat(name, ": ", check.message()));
  return manifest;
}

absl::StatusOr<proto::SnapshotManifest> ReadManifest(rocksdb::Env* env, const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/", kManifestName);
  std::string bytes;
  const absl::Status read = FromRocksDb(rocksdb::ReadFileToString(env, path, &bytes), path);
  if (absl::IsNotFound(read)) {
    return absl::NotFoundError(absl::StrCat(path, ": missing, so this snapshot is incomplete"));
  }
  ROWAN_RETURN_IF_ERROR(read);
  ROWAN_ASSIGN_OR_RETURN(proto::SnapshotManifest manifest, ParseManifest(bytes, path));
  const absl::string_view base = absl::string_view(directory).substr(directory.rfind('/') + 1);
  const absl::optional<uint64_t> id = ParseSnapshotName(base);
  if (id.has_value() && *id != manifest.id()) {
    return absl::DataLossError(absl::StrCat(path, ": id ", manifest.id(), ", expected ", *id, ": of another snapshot"));
  }
  return manifest;
}

const std::string* FindApplicationEntry(const proto::SnapshotManifest& manifest, absl::string_view key) {
  for (const proto::ApplicationEntry& entry : manifest.application()) {
    if (entry.key() == key) return &entry.value();
  }
  return nullptr;
}

absl::Status CheckManifest(const proto::SnapshotManifest& manifest) {
  const auto invalid = [](const auto&... parts) { return absl::InvalidArgumentError(absl::StrCat(parts...)); };
  if (manifest.format_version() != kSnapshotFormatVersion) {
    return invalid("format_version is ", manifest.format_version(), ", expected ", kSnapshotFormatVersion);
  }
  if (manifest.parent_id() != 0) return invalid("parent_id is ", manifest.parent_id(), ", expected 0: a full snapshot");
  const uint32_t shards = manifest.job().num_shards();
  if (!IsValidShardCount(shards)) {
    return invalid("job.num_shards is ", shards, ", expected a power of two from 1 to ", kMaxShards);
  }
  uint32_t last_table = 0;
  for (const proto::SnapshotTable& table : manifest.tables()) {
    if (table.id() <= last_table) return invalid("tables: id ", table.id(), " after ", last_table);
    if (table.spec_case() == proto::SnapshotTable::SPEC_NOT_SET)
      return invalid("tables: id ", table.id(), " has no spec");
    last_table = table.id();
  }
  int64_t last_shard = -1;
  for (const proto::SnapshotFile& file : manifest.files()) {
    if (file.shard() >= shards || file.shard() <= last_shard) {
      return invalid("files: shard ", file.shard(), " after ", last_shard, ", of ", shards, " shards");
    }
    if (file.name() != ShardFileName(file.shard())) {
      return invalid("files: shard ", file.shard(), " is named '", file.name(), "'");
    }
    const uint64_t pieces = file.bytes() / kChecksumPieceBytes + (file.bytes() % kChecksumPieceBytes != 0);
    if (static_cast<uint64_t>(file.piece_crc32c_size()) != pieces) {
      return invalid("files: ", file.name(), " has ", file.piece_crc32c_size(), " piece checksums, expected ", pieces);
    }
    last_shard = file.shard();
  }
  absl::flat_hash_set<absl::string_view> keys;
  for (const proto::ApplicationEntry& entry : manifest.application()) {
    if (!keys.insert(entry.key()).second) return invalid("application: key '", entry.key(), "' twice");
  }
  if (!manifest.digest().empty() && !IsHexDigest(manifest.digest())) {
    return invalid("digest is '", manifest.digest(), "', expected 32 hexadecimal digits");
  }
  return absl::OkStatus();
}

}  // namespace rowan
