#include "common/wire/byte_chain.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rowan {
namespace {

// As protobuf: of a tag and a length, of any other number, of groups in groups.
constexpr int kMaxTagBytes = 5;
constexpr int kMaxVarintBytes = 10;
constexpr size_t kMaxGroups = 100;
constexpr uint32_t kStartGroup = 3;
constexpr uint32_t kEndGroup = 4;

}  // namespace

ByteChain::ByteChain(std::vector<absl::string_view> pieces) : pieces_(std::move(pieces)) {
  pieces_.erase(std::remove_if(pieces_.begin(), pieces_.end(), [](absl::string_view p) { return p.empty(); }),
                pieces_.end());
  starts_.reserve(pieces_.size() + 1);
  starts_.push_back(0);
  for (const absl::string_view piece : pieces_) starts_.push_back(starts_.back() + piece.size());
}

size_t ByteChain::PieceAt(size_t offset) const {
  return std::upper_bound(starts_.begin() + 1, starts_.end(), offset) - (starts_.begin() + 1);
}

void ByteChain::Copy(ByteRange range, void* to) const {
  if (range.size > 0) Cursor(this, range.offset).Copy(to, range.size);
}

std::string ByteChain::ToString(ByteRange range) const {
  std::string text(range.size, '\0');
  Copy(range, &text[0]);
  return text;
}

void ByteChain::Cursor::CopyAcross(char* to, size_t size) {
  while (size > 0) {
    if (left_.empty()) left_ = chain_->piece(++piece_);
    const size_t n = std::min(size, left_.size());
    std::memcpy(to, left_.data(), n);
    left_.remove_prefix(n);
    to += n;
    size -= n;
  }
}

FieldReader::FieldReader(const ByteChain* chain, ByteRange range, const char* message)
    : chain_(chain),
      message_(message),
      end_(range.offset + range.size),
      offset_(range.offset),
      piece_(chain->PieceAt(range.offset)) {
  Skip(0);
}

void FieldReader::Skip(size_t bytes) {
  offset_ += bytes;
  while (piece_ < chain_->num_pieces() && chain_->start(piece_ + 1) <= offset_) ++piece_;
  if (piece_ == chain_->num_pieces()) {
    at_ = piece_end_ = nullptr;
    return;
  }
  const absl::string_view piece = chain_->piece(piece_);
  const size_t start = chain_->start(piece_);
  at_ = piece.data() + (offset_ - start);
  piece_end_ = piece.data() + std::min(piece.size(), end_ - start);
}

bool FieldReader::Byte(uint8_t* byte) {
  if (at_ == piece_end_) {
    if (offset_ == end_) return Fail("the message ends inside a field");
    Skip(0);
  }
  *byte = static_cast<uint8_t>(*at_++);
  ++offset_;
  return true;
}

bool FieldReader::Varint(int max_bytes, uint64_t* value) {
  *value = 0;
  for (int i = 0; i < max_bytes; ++i) {
    uint8_t byte;
    if (!Byte(&byte)) return false;
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return true;
  }
  return Fail(absl::StrCat("a number of more than ", max_bytes, " bytes"));
}

bool FieldReader::Fixed(int bytes) {
  value_ = 0;
  for (int i = 0; i < bytes; ++i) {
    uint8_t byte;
    if (!Byte(&byte)) return false;
    value_ |= static_cast<uint64_t>(byte) << (8 * i);
  }
  return true;
}

bool FieldReader::Next() {
  if (!status_.ok() || offset_ == end_) return false;
  field_offset_ = offset_;
  tag_ = 0;
  uint64_t tag;
  if (!Varint(kMaxTagBytes, &tag)) return false;
  tag_ = static_cast<uint32_t>(tag);
  if (tag_ >> 3 == 0) return Fail("no field has number 0");
  return Contents();
}

bool FieldReader::Contents() {
  switch (tag_ & 7) {
    case kVarintFormat:
      return Varint(kMaxVarintBytes, &value_);
    case kFixed64Format:
      return Fixed(8);
    case kFixed32Format:
      return Fixed(4);
    case kBytesFormat: {
      uint64_t size;
      if (!Varint(kMaxTagBytes, &size)) return false;
      if (size > end_ - offset_) {
        return Fail(absl::StrCat("has a length of ", size, " bytes where ", end_ - offset_, " are left"));
      }
      range_ = {offset_, static_cast<size_t>(size)};
      Skip(range_.size);
      return true;
    }
    case kStartGroup:
      return SkipGroup();
    default:
      return Fail(absl::StrCat("has wire type ", tag_ & 7));
  }
}

// Groups are of no use to anybody, but may stand in an unknown field.
bool FieldReader::SkipGroup() {
  const uint32_t outer = tag_;
  std::vector<uint32_t> open = {tag_ >> 3};
  while (!open.empty()) {
    uint64_t tag;
    if (!Varint(kMaxTagBytes, &tag)) return false;
    tag_ = static_cast<uint32_t>(tag);
    const uint32_t field = tag_ >> 3;
    if (field == 0) return Fail("no field has number 0");
    if ((tag_ & 7) == kStartGroup) {
      if (open.size() == kMaxGroups) return Fail("groups are nested too deeply");
      open.push_back(field);
    } else if ((tag_ & 7) == kEndGroup) {
      if (open.back() != field) return Fail("a group ends that was not begun");
      open.pop_back();
    } else if (!Contents()) {
      return false;
    }
  }
  tag_ = outer;
  return true;
}

bool FieldReader::Fail(absl::string_view what) {
  status_ = Error(what);
  return false;
}

absl::Status FieldReader::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(
      absl::StrCat(message_, " field ", tag_ >> 3, " at byte ", field_offset_, ": ", what));
}

}  // namespace rowan
