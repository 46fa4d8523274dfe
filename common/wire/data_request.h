// DataRequest of proto/data_plane.proto: written from, and read into, the requests of common/data_plane.h.
//
// Reading takes two steps. ParseRequest finds everything and copies no array: what it returns tells a server whether it
// wants the request, before any memory is spent on it. Then the arrays are copied once, to where they are aligned.
#ifndef ROWAN_COMMON_WIRE_DATA_REQUEST_H_
#define ROWAN_COMMON_WIRE_DATA_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/data_plane.h"
#include "common/wire/buffer_pool.h"
#include "common/wire/byte_chain.h"
#include "common/wire/message_writer.h"

namespace rowan {

// ---- Writing.

// `token`: of the header.
WireMessage EncodeHello(uint64_t id, const RequestHeader& header, absl::string_view token);
// Copies the keys. Neighbouring blocks of one dense parameter share a message. A width of 0 is found from the sizes
// where there are no places. `lookup`: outside steps.
WireMessage EncodePull(uint64_t id, const PullRequest& request, bool lookup, absl::string_view token);
// References long arrays if `request.storage` owns them, copies them otherwise. One of `parts` parts of a push; 0 of 0:
// the whole. What is copied goes into memory of `pool`, which may be null.
WireMessage EncodePush(uint64_t id, const PushRequest& request, uint32_t part, uint32_t parts, absl::string_view token,
                       BufferPool* pool);
WireMessage EncodeCancel(uint64_t id, uint64_t pull_id);

// Bytes of the fields that a request's arrays and messages take, without id and header: for splitting.
size_t EncodedSize(const TablePull& pull);
size_t EncodedSize(const PushSection& section);
// Floats of a row, from the request's own field or its sizes; 0 where neither tells.
uint32_t WidthOf(const TablePull& pull);

// ---- Reading.

struct ParsedTableKeys {
  uint32_t table = 0;
  uint32_t width = 0;  // 0: not told
  bool want_outcomes = false;
  uint32_t wire_type = 0;
  ByteRange keys;
};

struct ParsedDenseBlocks {
  uint32_t dense = 0;
  uint64_t size = 0;  // 0: not told
  ByteRange blocks;
};

struct ParsedGradients {
  uint32_t table = 0;
  uint32_t width = 0;  // 0: not told
  uint32_t wire_type = 0;
  ByteRange keys;
  ByteRange occurrences;
  ByteRange gradients;
};

struct ParsedDenseGradient {
  uint32_t dense = 0;
  uint64_t block = 0;
  ByteRange gradient;
};

// Its tables are those from the section before's end to its own; dense likewise.
struct ParsedSection {
  uint32_t shard = 0;
  size_t tables_end = 0;
  size_t dense_end = 0;
};

struct ParsedRequest {
  enum class Kind { kNone, kHello, kPull, kLookup, kPush, kCancel };

  uint64_t id = 0;
  RequestHeader header;
  std::string token;
  Kind kind = Kind::kNone;
  // kPull, kLookup
  uint64_t committed = 0;
  bool last = false;
  std::vector<ParsedTableKeys> pull_tables;
  std::vector<ParsedDenseBlocks> pull_dense;
  // kPush
  double weight = 0;
  uint32_t part = 0;
  uint32_t parts = 0;
  ByteRange refused_dense = {};
  std::vector<ParsedSection> sections;
  std::vector<ParsedGradients> push_tables;
  std::vector<ParsedDenseGradient> push_dense;
  // kCancel
  uint64_t cancelled = 0;
};

// A request has at most this many tables, sections and dense blocks in all: each takes two bytes on the wire and a
// hundred in memory.
inline constexpr size_t kMaxRequestParts = size_t{1} << 20;

// Takes fields in any order and skips unknown ones, as protobuf does. InvalidArgument naming message, field and offset
// for bytes that are no request.
absl::StatusOr<ParsedRequest> ParseRequest(const ByteChain& chain);

// Keys and block numbers: InvalidArgument unless the range holds whole ones of 8 bytes.
absl::StatusOr<size_t> CountWords(ByteRange range, absl::string_view what, uint32_t id);

// The push with its arrays in one buffer of `pool`, which the request owns. InvalidArgument, naming section and table,
// for arrays whose sizes do not fit each other, and for values other than fp32. Whether they fit the tables is not
// known here. REQUIRES: kind is kPush.
absl::StatusOr<PushRequest> DecodePush(const ByteChain& chain, const ParsedRequest& request, BufferPool* pool);

}  // namespace rowan

#endif  // ROWAN_COMMON_WIRE_DATA_REQUEST_H_
