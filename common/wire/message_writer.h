// MessageWriter: protobuf's wire format, written front to back. Not thread-safe.
//
// A message is a list of pieces. Small fields are copied, one after the other, into one head; a `bytes` field of
// kReferenceBytes and more whose owner is known becomes a piece of its own that points at the owner's memory.
// Lengths come before contents, so sizes are computed first, by the functions below; field numbers are below 16, whose
// tags take one byte.
#ifndef ROWAN_COMMON_WIRE_MESSAGE_WRITER_H_
#define ROWAN_COMMON_WIRE_MESSAGE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/wire/buffer_pool.h"

namespace rowan {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays on the wire are little-endian and copied as they are");

struct WirePiece {
  absl::string_view bytes;
  std::shared_ptr<const void> owner;  // of the bytes
};

struct WireMessage {
  std::vector<WirePiece> pieces;
  size_t size = 0;  // bytes of all pieces
};

// Shorter arrays are cheaper to copy than to reference.
inline constexpr size_t kReferenceBytes = 16 << 10;

enum WireFormat : uint32_t { kVarintFormat = 0, kFixed64Format = 1, kBytesFormat = 2, kFixed32Format = 5 };

constexpr uint32_t WireTag(uint32_t field, WireFormat format) { return field << 3 | format; }

inline size_t VarintSize(uint64_t value) { return 1 + (63 - __builtin_clzll(value | 1)) / 7; }
// Of whole fields. Scalars that are zero and empty bytes are not written, messages are.
inline size_t UintFieldSize(uint64_t value) { return value == 0 ? 0 : 1 + VarintSize(value); }
inline size_t MessageFieldSize(size_t size) { return 1 + VarintSize(size) + size; }
inline size_t BytesFieldSize(size_t size) { return size == 0 ? 0 : MessageFieldSize(size); }
inline uint64_t DoubleBits(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline size_t DoubleFieldSize(double value) { return DoubleBits(value) == 0 ? 0 : 9; }

class MessageWriter {
 public:
  // `size`: of the whole message; `referenced`: of the bytes in it that become pieces of their own. The head is taken
  // from `pool`, if there is one.
  MessageWriter(size_t size, size_t referenced, BufferPool* pool = nullptr)
      : head_(pool != nullptr ? pool->Take(size - referenced)
                              : std::shared_ptr<char>(new char[size - referenced + 1], std::default_delete<char[]>())),
        at_(head_.get()),
        begin_(at_) {
    message_.size = size;
  }

  static bool IsReferenced(size_t size, const std::shared_ptr<const void>& owner) {
    return size >= kReferenceBytes && owner != nullptr;
  }

  void UintField(uint32_t field, uint64_t value) {
    if (value == 0) return;
    Varint(WireTag(field, kVarintFormat));
    Varint(value);
  }
  void DoubleField(uint32_t field, double value) {
    if (DoubleBits(value) == 0) return;
    Varint(WireTag(field, kFixed64Format));
    std::memcpy(at_, &value, sizeof(value));
    at_ += sizeof(value);
  }
  // The head of a message of `size` bytes; its fields follow.
  void MessageField(uint32_t field, size_t size) {
    Varint(WireTag(field, kBytesFormat));
    Varint(size);
  }
  // `owner` may be null: copied.
  void BytesField(uint32_t field, const void* data, size_t size, const std::shared_ptr<const void>& owner = nullptr) {
    if (size == 0) return;
    MessageField(field, size);
    if (IsReferenced(size, owner)) {
      EndHeadPiece();
      message_.pieces.push_back({{static_cast<const char*>(data), size}, owner});
    } else {
      std::memcpy(at_, data, size);
      at_ += size;
    }
  }

  // REQUIRES: exactly the bytes promised were written.
  WireMessage Finish() {
    EndHeadPiece();
    return std::move(message_);
  }

 private:
  void Varint(uint64_t value) {
    while (value >= 0x80) {
      *at_++ = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    *at_++ = static_cast<char>(value);
  }
  void EndHeadPiece() {
    if (at_ == begin_) return;
    message_.pieces.push_back({{begin_, static_cast<size_t>(at_ - begin_)}, head_});
    begin_ = at_;
  }

  std::shared_ptr<char> head_;
  char* at_;     // where the next byte goes
  char* begin_;  // of the bytes that are no piece yet
  WireMessage message_;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_WIRE_MESSAGE_WRITER_H_
