// DataReply of proto/data_plane.proto: written from, and read into, the results of common/data_plane.h.
#ifndef ROWAN_COMMON_WIRE_DATA_REPLY_H_
#define ROWAN_COMMON_WIRE_DATA_REPLY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/data_plane.h"
#include "common/wire/byte_chain.h"
#include "common/wire/message_writer.h"

namespace rowan {

// ---- Writing. Texts are made valid UTF-8, which protobuf demands of them.

struct RowsReply {
  absl::Span<const Outcome> outcomes;  // (n), or empty
  absl::Span<const float> rows;        // (n, width)
};

// REQUIRES: status is not OK.
WireMessage EncodeError(uint64_t id, const absl::Status& status);
WireMessage EncodeHelloReply(uint64_t id, const HelloReply& reply);
// References long arrays, which `storage` owns. `dense`: values of one parameter each.
WireMessage EncodePullReply(uint64_t id, absl::Span<const RowsReply> tables,
                            absl::Span<const absl::Span<const float>> dense, std::shared_ptr<const void> storage);
WireMessage EncodePushReply(uint64_t id, absl::Span<const SectionOutcome> outcomes, uint64_t refused_rows);
WireMessage EncodeWaiting(uint64_t id, absl::string_view reason);

// What EncodePullReply would write at most, id and arrays' heads included.
size_t PullReplySizeLimit(size_t tables, size_t dense, size_t array_bytes);

// ---- Reading.

struct ParsedRows {
  ByteRange outcomes;
  ByteRange rows;
};

struct ParsedReply {
  enum class Kind { kNone, kHello, kPull, kPush, kWaiting };

  uint64_t id = 0;
  absl::Status status;
  Kind kind = Kind::kNone;
  HelloReply hello;
  // kPull
  std::vector<ParsedRows> tables;
  std::vector<ByteRange> dense;
  // kPush
  ByteRange outcomes;
  uint64_t refused_rows = 0;
  // kWaiting
  std::string waiting;
};

// InvalidArgument naming message, field and offset for bytes that are no reply.
absl::StatusOr<ParsedReply> ParseReply(const ByteChain& chain);

// Puts a pull's reply where the request wants it: rows and outcomes at their places, dense blocks one after the other.
// Internal, naming table or parameter, with nothing written, for a reply that does not fit.
absl::Status ScatterPull(const ByteChain& chain, const ParsedReply& reply, const PullRequest& request);

// Internal for a value that is no outcome, and unless there are `sections` of them.
absl::StatusOr<std::vector<SectionOutcome>> DecodeOutcomes(const ByteChain& chain, const ParsedReply& reply,
                                                           size_t sections);

}  // namespace rowan

#endif  // ROWAN_COMMON_WIRE_DATA_REPLY_H_
