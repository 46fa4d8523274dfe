#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/wire/data_reply.h"

namespace rowan {
namespace {

using Kind = ParsedReply::Kind;

constexpr uint32_t Uint(uint32_t field) { return WireTag(field, kVarintFormat); }
constexpr uint32_t Bytes(uint32_t field) { return WireTag(field, kBytesFormat); }

class ReplyParser {
 public:
  explicit ReplyParser(const ByteChain* chain) : chain_(chain) {}

  absl::StatusOr<ParsedReply> Parse() {
    FieldReader reader(chain_, {0, chain_->size()}, "DataReply");
    while (reader.Next()) {
      switch (reader.tag()) {
        case Uint(1):
          reply_.id = reader.value();
          break;
        case Bytes(2):
          ROWAN_RETURN_IF_ERROR(Status(reader.range()));
          break;
        case Bytes(3):
          SetKind(Kind::kHello);
          ROWAN_RETURN_IF_ERROR(Hello(reader.range()));
          break;
        case Bytes(4):
          SetKind(Kind::kPull);
          ROWAN_RETURN_IF_ERROR(Pull(reader.range()));
          break;
        case Bytes(5):
          SetKind(Kind::kPush);
          ROWAN_RETURN_IF_ERROR(Push(reader.range()));
          break;
        case Bytes(6):
          SetKind(Kind::kWaiting);
          ROWAN_RETURN_IF_ERROR(Waiting(reader.range()));
          break;
      }
    }
    ROWAN_RETURN_IF_ERROR(reader.status());
    if (code_ != 0) reply_.status = absl::Status(static_cast<absl::StatusCode>(code_), message_);
    return std::move(reply_);
  }

 private:
  void SetKind(Kind kind) {
    if (reply_.kind == kind) return;
    ParsedReply other;
    other.id = reply_.id;
    other.kind = kind;
    reply_ = std::move(other);
  }

  absl::Status Status(ByteRange range) {
    FieldReader reader(chain_, range, "DataStatus");
    while (reader.Next()) {
      if (reader.tag() == Uint(1)) code_ = static_cast<uint32_t>(reader.value());
      if (reader.tag() == Bytes(2)) message_ = chain_->ToString(reader.range());
    }
    return reader.status();
  }

  absl::Status Hello(ByteRange range) {
    FieldReader reader(chain_, range, "HelloResult");
    while (reader.Next()) {
      if (reader.tag() == Uint(1)) reply_.hello.applied = reader.value();
      if (reader.tag() == Uint(2)) reply_.hello.holds_push = reader.value() != 0;
      if (reader.tag() == Uint(3)) reply_.hello.committed = reader.value();
    }
    return reader.status();
  }

  absl::Status Pull(ByteRange range) {
    FieldReader reader(chain_, range, "PullResult");
    while (reader.Next()) {
      if (reader.tag() == Bytes(1)) {
        ParsedRows& rows = reply_.tables.emplace_back();
        FieldReader table(chain_, reader.range(), "TableRows");
        while (table.Next()) {
          if (table.tag() == Bytes(1)) rows.outcomes = table.range();
          if (table.tag() == Bytes(2)) rows.rows = table.range();
        }
        ROWAN_RETURN_IF_ERROR(table.status());
      }
      if (reader.tag() == Bytes(2)) {
        ByteRange& values = reply_.dense.emplace_back();
        FieldReader dense(chain_, reader.range(), "DenseValues");
        while (dense.Next()) {
          if (dense.tag() == Bytes(1)) values = dense.range();
        }
        ROWAN_RETURN_IF_ERROR(dense.status());
      }
    }
    return reader.status();
  }

  absl::Status Push(ByteRange range) {
    FieldReader reader(chain_, range, "PushResult");
    while (reader.Next()) {
      if (reader.tag() == Bytes(1)) reply_.outcomes = reader.range();
      if (reader.tag() == Uint(2)) reply_.refused_rows = reader.value();
    }
    return reader.status();
  }

  absl::Status Waiting(ByteRange range) {
    FieldReader reader(chain_, range, "Waiting");
    while (reader.Next()) {
      if (reader.tag() == Bytes(1)) reply_.waiting = chain_->ToString(reader.range());
    }
    return reader.status();
  }

  const ByteChain* const chain_;
  ParsedReply reply_;
  uint32_t code_ = 0;
  std::string message_;
};

absl::Status Unfit(absl::string_view what) {
  return absl::InternalError(absl::StrCat("a pull's reply does not fit: ", what));
}

// Floats of a row as the reply has them, or Internal.
absl::StatusOr<size_t> CheckTable(const TablePull& pull, const ParsedRows& rows) {
  const size_t n = pull.keys.size();
  const auto unfit = [&] {
    return Unfit(absl::StrCat("table ", pull.table, ", ", n, " keys, room for ", pull.rows.size(),
                              " floats: ", rows.rows.size, " bytes of rows, ", rows.outcomes.size, " outcomes"));
  };
  if (n == 0) {
    if (rows.rows.size != 0 || rows.outcomes.size != 0) return unfit();
    return 0;
  }
  const size_t width = rows.rows.size / n / sizeof(float);
  if (width == 0 || rows.rows.size != n * width * sizeof(float)) return unfit();
  if (pull.width != 0 && pull.width != width) return unfit();
  const size_t room = pull.rows.size() / width;
  if (pull.places.empty() && (room != n || pull.rows.size() % width != 0)) return unfit();
  for (const uint32_t place : pull.places) {
    if (place >= room || (!pull.outcomes.empty() && place >= pull.outcomes.size())) return unfit();
  }
  if (!pull.places.empty() && pull.places.size() != n) return unfit();
  if (!pull.outcomes.empty() && (rows.outcomes.size != n || (pull.places.empty() && pull.outcomes.size() != n))) {
    return unfit();
  }
  return width;
}

void ScatterTable(const ByteChain& chain, const ParsedRows& rows, const TablePull& pull, size_t width) {
  if (pull.places.empty()) {
    chain.Copy(rows.rows, pull.rows.data());
    if (!pull.outcomes.empty()) chain.Copy(rows.outcomes, pull.outcomes.data());
    return;
  }
  ByteChain::Cursor cursor(&chain, rows.rows.offset);
  for (const uint32_t place : pull.places) cursor.Copy(pull.rows.data() + place * width, width * sizeof(float));
  if (pull.outcomes.empty()) return;
  ByteChain::Cursor outcomes(&chain, rows.outcomes.offset);
  for (const uint32_t place : pull.places) outcomes.Copy(&pull.outcomes[place], 1);
}

}  // namespace

absl::StatusOr<ParsedReply> ParseReply(const ByteChain& chain) { return ReplyParser(&chain).Parse(); }

absl::Status ScatterPull(const ByteChain& chain, const ParsedReply& reply, const PullRequest& request) {
  if (reply.tables.size() != request.tables.size()) {
    return Unfit(absl::StrCat(reply.tables.size(), " tables for ", request.tables.size()));
  }
  std::vector<size_t> widths;
  for (size_t i = 0; i < reply.tables.size(); ++i) {
    ROWAN_ASSIGN_OR_RETURN(const size_t width, CheckTable(request.tables[i], reply.tables[i]));
    widths.push_back(width);
  }
  // Blocks of one parameter that stand together came as one message.
  std::vector<size_t> first_of_message;
  for (size_t i = 0; i < request.dense.size(); ++i) {
    if (i == 0 || request.dense[i].dense != request.dense[i - 1].dense) first_of_message.push_back(i);
  }
  if (reply.dense.size() != first_of_message.size()) {
    return Unfit(absl::StrCat(reply.dense.size(), " dense parameters for ", first_of_message.size()));
  }
  first_of_message.push_back(request.dense.size());
  for (size_t m = 0; m < reply.dense.size(); ++m) {
    size_t floats = 0;
    for (size_t i = first_of_message[m]; i < first_of_message[m + 1]; ++i) floats += request.dense[i].values.size();
    if (reply.dense[m].size != floats * sizeof(float)) {
      return Unfit(absl::StrCat("dense parameter ", request.dense[first_of_message[m]].dense, ": ", reply.dense[m].size,
                                " bytes for ", floats, " floats"));
    }
  }
  for (size_t i = 0; i < reply.tables.size(); ++i) {
    if (!request.tables[i].keys.empty()) ScatterTable(chain, reply.tables[i], request.tables[i], widths[i]);
  }
  for (size_t m = 0; m < reply.dense.size(); ++m) {
    ByteChain::Cursor cursor(&chain, reply.dense[m].offset);
    for (size_t i = first_of_message[m]; i < first_of_message[m + 1]; ++i) {
      cursor.Copy(request.dense[i].values.data(), request.dense[i].values.size() * sizeof(float));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SectionOutcome>> DecodeOutcomes(const ByteChain& chain, const ParsedReply& reply,
                                                           size_t sections) {
  if (reply.outcomes.size != sections) {
    return absl::InternalError(
        absl::StrCat("a push's reply does not fit: ", reply.outcomes.size, " outcomes for ", sections, " sections"));
  }
  std::vector<SectionOutcome> outcomes(sections);
  chain.Copy(reply.outcomes, outcomes.data());
  for (const SectionOutcome outcome : outcomes) {
    if (static_cast<uint8_t>(outcome) > static_cast<uint8_t>(SectionOutcome::kDuplicate)) {
      return absl::InternalError(absl::StrCat("a push's reply has outcome ", static_cast<int>(outcome)));
    }
  }
  return outcomes;
}

}  // namespace rowan
