#include <limits>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/wire/data_request.h"

namespace rowan {
namespace {

using Kind = ParsedRequest::Kind;

constexpr uint32_t Uint(uint32_t field) { return WireTag(field, kVarintFormat); }
constexpr uint32_t Double(uint32_t field) { return WireTag(field, kFixed64Format); }
constexpr uint32_t Bytes(uint32_t field) { return WireTag(field, kBytesFormat); }

// One parse. Each function adds a message to the request, as protobuf merges.
class RequestParser {
 public:
  explicit RequestParser(const ByteChain* chain) : chain_(chain) {}

  absl::StatusOr<ParsedRequest> Parse() {
    FieldReader reader(chain_, {0, chain_->size()}, "DataRequest");
    while (reader.Next()) {
      switch (reader.tag()) {
        case Uint(1):
          request_.id = reader.value();
          break;
        case Bytes(2):
          ROWAN_RETURN_IF_ERROR(Header(reader.range()));
          break;
        case Bytes(3):
          SetKind(Kind::kHello);
          ROWAN_RETURN_IF_ERROR(Empty(reader.range()));
          break;
        case Bytes(4):
          SetKind(Kind::kPull);
          ROWAN_RETURN_IF_ERROR(Pull(reader.range()));
          break;
        case Bytes(5):
          SetKind(Kind::kLookup);
          ROWAN_RETURN_IF_ERROR(Pull(reader.range()));
          break;
        case Bytes(6):
          SetKind(Kind::kPush);
          ROWAN_RETURN_IF_ERROR(Push(reader.range()));
          break;
        case Bytes(7):
          SetKind(Kind::kCancel);
          ROWAN_RETURN_IF_ERROR(Cancel(reader.range()));
          break;
      }
    }
    ROWAN_RETURN_IF_ERROR(reader.status());
    return std::move(request_);
  }

 private:
  // The body that comes last counts; the same one twice is one.
  void SetKind(Kind kind) {
    if (request_.kind == kind) return;
    ParsedRequest other;
    other.id = request_.id;
    other.header = request_.header;
    other.token = std::move(request_.token);
    other.kind = kind;
    request_ = std::move(other);
  }

  absl::Status CountPart(const FieldReader& reader) {
    if (++parts_ > kMaxRequestParts) {
      return reader.Error(absl::StrCat("more than ", kMaxRequestParts, " tables, sections and dense blocks"));
    }
    return absl::OkStatus();
  }

  absl::Status Header(ByteRange range) {
    FieldReader reader(chain_, range, "DataHeader");
    RequestHeader& header = request_.header;
    while (reader.Next()) {
      switch (reader.tag()) {
        case Uint(1):
          header.generation = reader.value();
          break;
        case Uint(2):
          header.rank = static_cast<uint32_t>(reader.value());
          break;
        case Uint(3):
          header.incarnation = static_cast<uint32_t>(reader.value());
          break;
        case Uint(4):
          header.number = reader.value();
          break;
        case Uint(5):
          header.map_version = reader.value();
          break;
        case Bytes(6):
          request_.token = chain_->ToString(reader.range());
          break;
      }
    }
    return reader.status();
  }

  absl::Status Empty(ByteRange range) {
    FieldReader reader(chain_, range, "HelloBody");
    while (reader.Next()) {
    }
    return reader.status();
  }

  absl::Status Cancel(ByteRange range) {
    FieldReader reader(chain_, range, "CancelBody");
    while (reader.Next()) {
      if (reader.tag() == Uint(1)) request_.cancelled = reader.value();
    }
    return reader.status();
  }

  absl::Status Pull(ByteRange range) {
    FieldReader reader(chain_, range, "PullBody");
    while (reader.Next()) {
      switch (reader.tag()) {
        case Uint(1):
          request_.committed = reader.value();
          break;
        case Uint(2):
          request_.last = reader.value() != 0;
          break;
        case Bytes(3):
          ROWAN_RETURN_IF_ERROR(CountPart(reader));
          ROWAN_RETURN_IF_ERROR(Table(reader.range()));
          break;
        case Bytes(4):
          ROWAN_RETURN_IF_ERROR(CountPart(reader));
          ROWAN_RETURN_IF_ERROR(Blocks(reader.range()));
          break;
      }
    }
    return reader.status();
  }

  absl::Status Table(ByteRange range) {
    FieldReader reader(chain_, range, "TableKeys");
    ParsedTableKeys table;
    while (reader.Next()) {
      switch (reader.tag()) {
        case Uint(1):
          table.table = static_cast<uint32_t>(reader.value());
          break;
        case Uint(2):
          table.width = static_cast<uint32_t>(reader.value());
          break;
        case Uint(3):
          table.want_outcomes = reader.value() != 0;
          break;
        case Uint(4):
          table.wire_type = static_cast<uint32_t>(reader.value());
          break;
        case Bytes(5):
          table.keys = reader.range();
          break;
      }
    }
    request_.pull_tables.push_back(table);
    return reader.status();
  }

  absl::Status Blocks(ByteRange range) {
    FieldReader reader(chain_, range, "DenseBlocks");
    ParsedDenseBlocks dense;
    while (reader.Next()) {
      switch (reader.tag()) {
        case Uint(1):
          dense.dense = static_cast<uint32_t>(reader.value());
          break;
        case Uint(2):
          dense.size = reader.value();
          break;
        case Bytes(3):
          dense.blocks = reader.range();
          break;
      }
    }
    request_.pull_dense.push_back(dense);
    return reader.status();
  }

  absl::Status Push(ByteRange range) {
    FieldReader reader(chain_, range, "PushBody");
    while (reader.Next()) {
      switch (reader.tag()) {
        case Double(1): {
          const uint64_t bits = reader.value();
          std::memcpy(&request_.weight, &bits, sizeof(bits));
          break;
        }
        case Bytes(2):
          ROWAN_RETURN_IF_ERROR(CountPart(reader));
          ROWAN_RETURN_IF_ERROR(Section(reader.range()));
          break;
        case Uint(3):
          request_.part = static_cast<uint32_t>(reader.value());
          break;
        case Uint(4):
          request_.parts = static_cast<uint32_t>(reader.value());
          break;
        case Bytes(5):
          request_.refused_dense = reader.range();
          break;
      }
    }
    return reader.status();
  }

  absl::Status Section(ByteRange range) {
    FieldReader reader(chain_, range, "Section");
    ParsedSection section;
    while (reader.Next()) {
      switch (reader.tag()) {
        case Uint(1):
          section.shard = static_cast<uint32_t>(reader.value());
          break;
        case Bytes(2):
          ROWAN_RETURN_IF_ERROR(CountPart(reader));
          ROWAN_RETURN_IF_ERROR(Gradients(reader.range()));
          break;
        case Bytes(3):
          ROWAN_RETURN_IF_ERROR(CountPart(reader));
          ROWAN_RETURN_IF_ERROR(Dense(reader.range()));
          break;
      }
    }
    section.tables_end = request_.push_tables.size();
    section.dense_end = request_.push_dense.size();
    request_.sections.push_back(section);
    return reader.status();
  }

  absl::Status Gradients(ByteRange range) {
    FieldReader reader(chain_, range, "TableGradients");
    ParsedGradients table;
    while (reader.Next()) {
      switch (reader.tag()) {
        case Uint(1):
          table.table = static_cast<uint32_t>(reader.value());
          break;
        case Uint(2):
          table.width = static_cast<uint32_t>(reader.value());
          break;
        case Uint(3):
          table.wire_type = static_cast<uint32_t>(reader.value());
          break;
        case Bytes(4):
          table.keys = reader.range();
          break;
        case Bytes(5):
          table.occurrences = reader.range();
          break;
        case Bytes(6):
          table.gradients = reader.range();
          break;
      }
    }
    request_.push_tables.push_back(table);
    return reader.status();
  }

  absl::Status Dense(ByteRange range) {
    FieldReader reader(chain_, range, "DenseGradient");
    ParsedDenseGradient dense;
    while (reader.Next()) {
      switch (reader.tag()) {
        case Uint(1):
          dense.dense = static_cast<uint32_t>(reader.value());
          break;
        case Uint(2):
          dense.block = reader.value();
          break;
        case Bytes(3):
          dense.gradient = reader.range();
          break;
      }
    }
    request_.push_dense.push_back(dense);
    return reader.status();
  }

  const ByteChain* const chain_;
  ParsedRequest request_;
  size_t parts_ = 0;
};

absl::Status BadGradients(uint32_t shard, const ParsedGradients& table, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("push of shard ", shard, ", table ", table.table, ": ", what));
}

absl::Status CheckGradients(uint32_t shard, const ParsedGradients& table) {
  if (table.wire_type != 0) return BadGradients(shard, table, absl::StrCat("unknown wire type ", table.wire_type));
  if (table.keys.size % sizeof(uint64_t) != 0) {
    return BadGradients(shard, table, absl::StrCat(table.keys.size, " bytes of keys are no whole keys"));
  }
  const size_t n = table.keys.size / sizeof(uint64_t);
  if (table.occurrences.size != 0 && table.occurrences.size != n * sizeof(uint32_t)) {
    return BadGradients(shard, table, absl::StrCat(n, " keys, ", table.occurrences.size, " bytes of occurrences"));
  }
  // n and the width are far below 2^32: their product is no more than 2^64.
  const size_t row = static_cast<size_t>(table.width) * sizeof(float);
  const bool fits = table.width != 0 ? table.gradients.size / row == n && table.gradients.size % row == 0
                    : n != 0         ? table.gradients.size % (n * sizeof(float)) == 0
                                     : table.gradients.size == 0;
  if (!fits) {
    return BadGradients(
        shard, table,
        absl::StrCat(n, " keys of width ", table.width, ", ", table.gradients.size, " bytes of gradients"));
  }
  return absl::OkStatus();
}

constexpr size_t Padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

}  // namespace

absl::StatusOr<ParsedRequest> ParseRequest(const ByteChain& chain) { return RequestParser(&chain).Parse(); }

absl::StatusOr<size_t> CountWords(ByteRange range, absl::string_view what, uint32_t id) {
  if (range.size % sizeof(uint64_t) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", id, ": ", range.size, " bytes are no whole numbers of 8 bytes"));
  }
  return range.size / sizeof(uint64_t);
}

absl::StatusOr<PushRequest> DecodePush(const ByteChain& chain, const ParsedRequest& request, BufferPool* pool) {
  if (request.refused_dense.size % sizeof(uint32_t) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("PushBody.refused_dense: ", request.refused_dense.size, " bytes are no whole numbers"));
  }
  size_t bytes = 0;
  {
    size_t t = 0;
    for (const ParsedSection& section : request.sections) {
      for (; t < section.tables_end; ++t) {
        const ParsedGradients& table = request.push_tables[t];
        ROWAN_RETURN_IF_ERROR(CheckGradients(section.shard, table));
        bytes += Padded(table.keys.size) + Padded(table.occurrences.size) + Padded(table.gradients.size);
      }
    }
    for (const ParsedDenseGradient& dense : request.push_dense) {
      if (dense.gradient.size % sizeof(float) != 0) {
        return absl::InvalidArgumentError(absl::StrCat("push of dense parameter ", dense.dense, " block ", dense.block,
                                                       ": ", dense.gradient.size, " bytes are no whole floats"));
      }
      bytes += Padded(dense.gradient.size);
    }
  }
  const std::shared_ptr<char> storage = pool->Take(bytes);
  char* free = storage.get();
  const auto copy = [&](ByteRange range) {
    char* const to = free;
    chain.Copy(range, to);
    free += Padded(range.size);
    return to;
  };
  PushRequest push;
  push.header = request.header;
  push.weight = request.weight;
  push.refused_dense.resize(request.refused_dense.size / sizeof(uint32_t));
  chain.Copy(request.refused_dense, reinterpret_cast<char*>(push.refused_dense.data()));
  push.storage = storage;
  push.sections.reserve(request.sections.size());
  size_t t = 0, d = 0;
  for (const ParsedSection& parsed : request.sections) {
    PushSection& section = push.sections.emplace_back();
    section.shard = parsed.shard;
    section.tables.reserve(parsed.tables_end - t);
    for (; t < parsed.tables_end; ++t) {
      const ParsedGradients& table = request.push_tables[t];
      TableGradients& to = section.tables.emplace_back();
      to.table = table.table;
      to.keys = {reinterpret_cast<const uint64_t*>(copy(table.keys)), table.keys.size / sizeof(uint64_t)};
      to.occurrences = {reinterpret_cast<const uint32_t*>(copy(table.occurrences)),
                        table.occurrences.size / sizeof(uint32_t)};
      to.gradients = {reinterpret_cast<const float*>(copy(table.gradients)), table.gradients.size / sizeof(float)};
    }
    for (; d < parsed.dense_end; ++d) {
      const ParsedDenseGradient& dense = request.push_dense[d];
      section.dense.push_back(
          {dense.dense,
           dense.block,
           {reinterpret_cast<const float*>(copy(dense.gradient)), dense.gradient.size / sizeof(float)}});
    }
  }
  return push;
}

}  // namespace rowan
