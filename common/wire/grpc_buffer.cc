#include "common/wire/grpc_buffer.h"

#include <memory>
#include <utility>

namespace rowan {

grpc::ByteBuffer ToByteBuffer(WireMessage message) {
  using Owner = std::shared_ptr<const void>;
  std::vector<grpc::Slice> slices;
  slices.reserve(message.pieces.size());
  for (WirePiece& piece : message.pieces) {
    slices.emplace_back(
        const_cast<char*>(piece.bytes.data()), piece.bytes.size(),
        [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(std::move(piece.owner)));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::vector<grpc::Slice> ReceivedMessage::Slices(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  // An empty buffer has nothing to dump, and says so with an error.
  if (buffer.Valid()) (void)buffer.Dump(&slices);
  return slices;
}

std::vector<absl::string_view> ReceivedMessage::Views(const std::vector<grpc::Slice>& slices) {
  std::vector<absl::string_view> views;
  views.reserve(slices.size());
  for (const grpc::Slice& slice : slices) {
    views.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return views;
}

ReceivedMessage::ReceivedMessage(const grpc::ByteBuffer& buffer) : slices_(Slices(buffer)), chain_(Views(slices_)) {}

}  // namespace rowan
