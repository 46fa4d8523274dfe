// Between WireMessage, ByteChain and grpc::ByteBuffer, without copying.
#ifndef ROWAN_COMMON_WIRE_GRPC_BUFFER_H_
#define ROWAN_COMMON_WIRE_GRPC_BUFFER_H_

#include <vector>

#include "common/wire/byte_chain.h"
#include "common/wire/message_writer.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace rowan {

// Owners are let go when gRPC needs the bytes no more.
grpc::ByteBuffer ToByteBuffer(WireMessage message);

// A message that came in.
class ReceivedMessage {
 public:
  explicit ReceivedMessage(const grpc::ByteBuffer& buffer);

  const ByteChain& chain() const { return chain_; }

 private:
  static std::vector<grpc::Slice> Slices(const grpc::ByteBuffer& buffer);
  static std::vector<absl::string_view> Views(const std::vector<grpc::Slice>& slices);

  const std::vector<grpc::Slice> slices_;  // short ones hold their bytes themselves: they stay where they are
  const ByteChain chain_;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_WIRE_GRPC_BUFFER_H_
