#include "common/wire/data_request.h"

namespace rowan {
namespace {

size_t HeaderSize(const RequestHeader& header, absl::string_view token) {
  return UintFieldSize(header.generation) + UintFieldSize(header.rank) + UintFieldSize(header.incarnation) +
         UintFieldSize(header.number) + UintFieldSize(header.map_version) + BytesFieldSize(token.size());
}

// A request around a body of `body_size` bytes in field `field`: everything before the body's own fields.
MessageWriter BeginRequest(uint64_t id, const RequestHeader& header, absl::string_view token, uint32_t field,
                           size_t body_size, size_t referenced, BufferPool* pool = nullptr) {
  const size_t header_size = HeaderSize(header, token);
  MessageWriter writer(UintFieldSize(id) + MessageFieldSize(header_size) + MessageFieldSize(body_size), referenced,
                       pool);
  writer.UintField(1, id);
  writer.MessageField(2, header_size);
  writer.UintField(1, header.generation);
  writer.UintField(2, header.rank);
  writer.UintField(3, header.incarnation);
  writer.UintField(4, header.number);
  writer.UintField(5, header.map_version);
  writer.BytesField(6, token.data(), token.size());
  writer.MessageField(field, body_size);
  return writer;
}

size_t TableKeysSize(const TablePull& pull) {
  return UintFieldSize(pull.table) + UintFieldSize(WidthOf(pull)) + UintFieldSize(!pull.outcomes.empty()) +
         BytesFieldSize(pull.keys.size() * sizeof(uint64_t));
}

// The blocks from `first` on that go into one message: of the same parameter.
size_t DenseRun(const std::vector<DensePull>& dense, size_t first) {
  size_t n = 1;
  while (first + n < dense.size() && dense[first + n].dense == dense[first].dense) ++n;
  return n;
}

size_t DenseBlocksSize(uint32_t dense, size_t blocks) {
  return UintFieldSize(dense) + BytesFieldSize(blocks * sizeof(uint64_t));
}

uint32_t GradientWidth(const TableGradients& table) {
  return table.keys.empty() ? 0 : static_cast<uint32_t>(table.gradients.size() / table.keys.size());
}

size_t TableGradientsSize(const TableGradients& table) {
  return UintFieldSize(table.table) + UintFieldSize(GradientWidth(table)) +
         BytesFieldSize(table.keys.size() * sizeof(uint64_t)) +
         BytesFieldSize(table.occurrences.size() * sizeof(uint32_t)) +
         BytesFieldSize(table.gradients.size() * sizeof(float));
}

size_t DenseGradientSize(const DenseGradient& dense) {
  return UintFieldSize(dense.dense) + UintFieldSize(dense.block) +
         BytesFieldSize(dense.gradient.size() * sizeof(float));
}

size_t SectionSize(const PushSection& section) {
  size_t size = UintFieldSize(section.shard);
  for (const TableGradients& table : section.tables) size += MessageFieldSize(TableGradientsSize(table));
  for (const DenseGradient& dense : section.dense) size += MessageFieldSize(DenseGradientSize(dense));
  return size;
}

}  // namespace

uint32_t WidthOf(const TablePull& pull) {
  if (pull.width != 0) return pull.width;
  if (!pull.outcomes.empty()) return static_cast<uint32_t>(pull.rows.size() / pull.outcomes.size());
  if (pull.keys.empty() || !pull.places.empty()) return 0;
  return static_cast<uint32_t>(pull.rows.size() / pull.keys.size());
}

size_t EncodedSize(const TablePull& pull) { return MessageFieldSize(TableKeysSize(pull)); }
size_t EncodedSize(const PushSection& section) { return MessageFieldSize(SectionSize(section)); }

WireMessage EncodeHello(uint64_t id, const RequestHeader& header, absl::string_view token) {
  return BeginRequest(id, header, token, 3, 0, 0).Finish();
}

WireMessage EncodePull(uint64_t id, const PullRequest& request, bool lookup, absl::string_view token) {
  size_t size = UintFieldSize(request.committed) + UintFieldSize(request.last);
  for (const TablePull& pull : request.tables) size += EncodedSize(pull);
  for (size_t i = 0, n; i < request.dense.size(); i += n) {
    n = DenseRun(request.dense, i);
    size += MessageFieldSize(DenseBlocksSize(request.dense[i].dense, n));
  }
  MessageWriter writer = BeginRequest(id, request.header, token, lookup ? 5 : 4, size, 0);
  writer.UintField(1, request.committed);
  writer.UintField(2, request.last);
  for (const TablePull& pull : request.tables) {
    writer.MessageField(3, TableKeysSize(pull));
    writer.UintField(1, pull.table);
    writer.UintField(2, WidthOf(pull));
    writer.UintField(3, !pull.outcomes.empty());
    writer.BytesField(5, pull.keys.data(), pull.keys.size() * sizeof(uint64_t));
  }
  std::vector<uint64_t> blocks;
  for (size_t i = 0, n; i < request.dense.size(); i += n) {
    n = DenseRun(request.dense, i);
    blocks.clear();
    for (size_t k = 0; k < n; ++k) blocks.push_back(request.dense[i + k].block);
    writer.MessageField(4, DenseBlocksSize(request.dense[i].dense, n));
    writer.UintField(1, request.dense[i].dense);
    writer.BytesField(3, blocks.data(), n * sizeof(uint64_t));
  }
  return writer.Finish();
}

WireMessage EncodePush(uint64_t id, const PushRequest& request, uint32_t part, uint32_t parts, absl::string_view token,
                       BufferPool* pool) {
  const size_t refused_bytes = request.refused_dense.size() * sizeof(uint32_t);
  size_t size = DoubleFieldSize(request.weight) + UintFieldSize(part) + UintFieldSize(parts) +
                BytesFieldSize(refused_bytes);
  size_t referenced = 0;
  const auto count = [&](size_t bytes) {
    if (MessageWriter::IsReferenced(bytes, request.storage)) referenced += bytes;
  };
  for (const PushSection& section : request.sections) {
    size += EncodedSize(section);
    for (const TableGradients& table : section.tables) {
      count(table.keys.size() * sizeof(uint64_t));
      count(table.occurrences.size() * sizeof(uint32_t));
      count(table.gradients.size() * sizeof(float));
    }
    for (const DenseGradient& dense : section.dense) count(dense.gradient.size() * sizeof(float));
  }
  MessageWriter writer = BeginRequest(id, request.header, token, 6, size, referenced, pool);
  writer.DoubleField(1, request.weight);
  for (const PushSection& section : request.sections) {
    writer.MessageField(2, SectionSize(section));
    writer.UintField(1, section.shard);
    for (const TableGradients& table : section.tables) {
      writer.MessageField(2, TableGradientsSize(table));
      writer.UintField(1, table.table);
      writer.UintField(2, GradientWidth(table));
      writer.BytesField(4, table.keys.data(), table.keys.size() * sizeof(uint64_t), request.storage);
      writer.BytesField(5, table.occurrences.data(), table.occurrences.size() * sizeof(uint32_t), request.storage);
      writer.BytesField(6, table.gradients.data(), table.gradients.size() * sizeof(float), request.storage);
    }
    for (const DenseGradient& dense : section.dense) {
      writer.MessageField(3, DenseGradientSize(dense));
      writer.UintField(1, dense.dense);
      writer.UintField(2, dense.block);
      writer.BytesField(3, dense.gradient.data(), dense.gradient.size() * sizeof(float), request.storage);
    }
  }
  writer.UintField(3, part);
  writer.UintField(4, parts);
  writer.BytesField(5, request.refused_dense.data(), refused_bytes);
  return writer.Finish();
}

WireMessage EncodeCancel(uint64_t id, uint64_t pull_id) {
  const size_t body = UintFieldSize(pull_id);
  MessageWriter writer(UintFieldSize(id) + MessageFieldSize(body), 0);
  writer.UintField(1, id);
  writer.MessageField(7, body);
  writer.UintField(1, pull_id);
  return writer.Finish();
}

}  // namespace rowan
