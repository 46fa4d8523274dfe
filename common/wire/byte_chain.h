// ByteChain and FieldReader: protobuf's wire format, read from bytes that lie in several pieces. Nothing that comes in
// is trusted: a FieldReader never reads outside its range, whatever the bytes say.
#ifndef ROWAN_COMMON_WIRE_BYTE_CHAIN_H_
#define ROWAN_COMMON_WIRE_BYTE_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/wire/message_writer.h"

namespace rowan {

// Where a field's contents lie in a chain.
struct ByteRange {
  size_t offset = 0;
  size_t size = 0;
};

// Pieces, one after the other. Immutable; the bytes outlive it.
class ByteChain {
 public:
  explicit ByteChain(std::vector<absl::string_view> pieces);

  size_t size() const { return starts_.back(); }
  size_t num_pieces() const { return pieces_.size(); }
  absl::string_view piece(size_t i) const { return pieces_[i]; }
  size_t start(size_t i) const { return starts_[i]; }  // offset of piece i's first byte
  // The piece that holds byte `offset`, or num_pieces() for the end. Pieces are not empty.
  size_t PieceAt(size_t offset) const;

  // REQUIRES: the range lies in the chain.
  void Copy(ByteRange range, void* to) const;
  std::string ToString(ByteRange range) const;

  // Copies one range front to back in steps, for arrays whose elements go to different places.
  class Cursor {
   public:
    Cursor(const ByteChain* chain, size_t offset) : chain_(chain), piece_(chain->PieceAt(offset)) {
      if (piece_ < chain->num_pieces()) left_ = chain->piece(piece_).substr(offset - chain->start(piece_));
    }
    // REQUIRES: as many bytes are left in the chain.
    void Copy(void* to, size_t size) {
      if (size < left_.size()) {
        std::memcpy(to, left_.data(), size);
        left_.remove_prefix(size);
      } else {
        CopyAcross(static_cast<char*>(to), size);
      }
    }

   private:
    void CopyAcross(char* to, size_t size);

    const ByteChain* chain_;
    size_t piece_;
    absl::string_view left_;  // of the piece
  };

 private:
  std::vector<absl::string_view> pieces_;
  std::vector<size_t> starts_;  // (pieces + 1)
};

// The fields of one message.
//
//   FieldReader reader(&chain, range, "Section");
//   while (reader.Next()) {
//     switch (reader.tag()) { case WireTag(1, kVarintFormat): shard = reader.value(); ... }  // unknown ones: do
//     nothing
//   }
//   ROWAN_RETURN_IF_ERROR(reader.status());
class FieldReader {
 public:
  // `message`: its name, for errors. Both arguments outlive the reader. REQUIRES: the range lies in the chain.
  FieldReader(const ByteChain* chain, ByteRange range, const char* message);

  // False at the end, and at the first bytes that are no field.
  bool Next();
  // InvalidArgument naming message, field and offset.
  const absl::Status& status() const { return status_; }

  uint32_t tag() const { return tag_; }
  uint64_t value() const { return value_; }   // of a varint, or the bits of a fixed field
  ByteRange range() const { return range_; }  // of a bytes field

  // The same kind of error for what the caller finds wrong in the current field.
  absl::Status Error(absl::string_view what) const;

 private:
  bool Byte(uint8_t* byte);
  // A varint of at most `max_bytes` bytes.
  bool Varint(int max_bytes, uint64_t* value);
  bool Fixed(int bytes);
  bool Contents();  // of the field whose tag was read
  bool SkipGroup();
  void Skip(size_t bytes);
  bool Fail(absl::string_view what);

  const ByteChain* const chain_;
  const char* const message_;
  const size_t end_;
  size_t offset_;
  size_t piece_;
  const char* at_ = nullptr;         // in the piece, where the next byte is
  const char* piece_end_ = nullptr;  // or earlier, where the range ends
  size_t field_offset_ = 0;
  uint32_t tag_ = 0;
  uint64_t value_ = 0;
  ByteRange range_;
  absl::Status status_;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_WIRE_BYTE_CHAIN_H_
