#include "common/wire/data_reply.h"

namespace rowan {
namespace {

// Length of the UTF-8 character at the start of `text`, or 0 if there is none. RFC 3629, section 4.
size_t CharacterLength(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto follows = [&](size_t i, uint8_t low = 0x80, uint8_t high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    return follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    return follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::string ValidUtf8(absl::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) {
      valid += '?';
      text.remove_prefix(1);
    } else {
      valid.append(text.data(), length);
      text.remove_prefix(length);
    }
  }
  return valid;
}

MessageWriter BeginReply(uint64_t id, uint32_t field, size_t body_size, size_t referenced = 0) {
  MessageWriter writer(UintFieldSize(id) + MessageFieldSize(body_size), referenced);
  writer.UintField(1, id);
  writer.MessageField(field, body_size);
  return writer;
}

size_t RowsSize(const RowsReply& table) {
  return BytesFieldSize(table.outcomes.size()) + BytesFieldSize(table.rows.size() * sizeof(float));
}

size_t ValuesSize(absl::Span<const float> values) { return BytesFieldSize(values.size() * sizeof(float)); }

}  // namespace

WireMessage EncodeError(uint64_t id, const absl::Status& status) {
  const std::string message = ValidUtf8(status.message());
  const uint32_t code = static_cast<uint32_t>(status.code());
  MessageWriter writer = BeginReply(id, 2, UintFieldSize(code) + BytesFieldSize(message.size()));
  writer.UintField(1, code);
  writer.BytesField(2, message.data(), message.size());
  return writer.Finish();
}

WireMessage EncodeHelloReply(uint64_t id, const HelloReply& reply) {
  MessageWriter writer = BeginReply(
      id, 3, UintFieldSize(reply.applied) + UintFieldSize(reply.holds_push) + UintFieldSize(reply.committed));
  writer.UintField(1, reply.applied);
  writer.UintField(2, reply.holds_push);
  writer.UintField(3, reply.committed);
  return writer.Finish();
}

WireMessage EncodePullReply(uint64_t id, absl::Span<const RowsReply> tables,
                            absl::Span<const absl::Span<const float>> dense, std::shared_ptr<const void> storage) {
  size_t size = 0;
  size_t referenced = 0;
  const auto count = [&](size_t bytes) {
    if (MessageWriter::IsReferenced(bytes, storage)) referenced += bytes;
  };
  for (const RowsReply& table : tables) {
    size += MessageFieldSize(RowsSize(table));
    count(table.outcomes.size());
    count(table.rows.size() * sizeof(float));
  }
  for (const absl::Span<const float> values : dense) {
    size += MessageFieldSize(ValuesSize(values));
    count(values.size() * sizeof(float));
  }
  MessageWriter writer = BeginReply(id, 4, size, referenced);
  for (const RowsReply& table : tables) {
    writer.MessageField(1, RowsSize(table));
    writer.BytesField(1, table.outcomes.data(), table.outcomes.size(), storage);
    writer.BytesField(2, table.rows.data(), table.rows.size() * sizeof(float), storage);
  }
  for (const absl::Span<const float> values : dense) {
    writer.MessageField(2, ValuesSize(values));
    writer.BytesField(1, values.data(), values.size() * sizeof(float), storage);
  }
  return writer.Finish();
}

WireMessage EncodePushReply(uint64_t id, absl::Span<const SectionOutcome> outcomes, uint64_t refused_rows) {
  MessageWriter writer = BeginReply(id, 5, BytesFieldSize(outcomes.size()) + UintFieldSize(refused_rows));
  writer.BytesField(1, outcomes.data(), outcomes.size());
  writer.UintField(2, refused_rows);
  return writer.Finish();
}

WireMessage EncodeWaiting(uint64_t id, absl::string_view reason) {
  const std::string text = ValidUtf8(reason);
  MessageWriter writer = BeginReply(id, 6, BytesFieldSize(text.size()));
  writer.BytesField(1, text.data(), text.size());
  return writer.Finish();
}

size_t PullReplySizeLimit(size_t tables, size_t dense, size_t array_bytes) {
  constexpr size_t kHead = 11;  // a tag and the longest length
  return array_bytes + 2 * kHead + kHead * (3 * tables + 2 * dense);
}

}  // namespace rowan
