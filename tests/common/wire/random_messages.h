// Random requests and replies of the data plane as protobuf messages, with arrays that fit each other.
#ifndef ROWAN_TESTS_COMMON_WIRE_RANDOM_MESSAGES_H_
#define ROWAN_TESTS_COMMON_WIRE_RANDOM_MESSAGES_H_

#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "proto/data_plane.pb.h"

namespace rowan::testing {

class RandomMessages {
 public:
  explicit RandomMessages(uint64_t seed) : random_(seed) {}

  // 0 to n - 1.
  uint64_t Below(uint64_t n) { return random_() % n; }
  // Of any length in bits, 0 often.
  uint64_t Number() { return Below(4) == 0 ? 0 : random_() >> Below(64); }
  std::string Bytes(size_t n) {
    std::string bytes(n, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_());
    return bytes;
  }
  // Rows of mostly short tables, now and then of long ones.
  size_t Count() { return Below(10) == 0 ? Below(3000) : Below(6); }

  proto::DataRequest Request() {
    proto::DataRequest request;
    request.set_id(Number());
    const uint64_t kind = Below(5);
    if (kind == 4) {
      request.mutable_cancel()->set_id(Number());
      return request;
    }
    proto::DataHeader* const header = request.mutable_header();
    header->set_generation(Number());
    header->set_rank(static_cast<uint32_t>(Number()));
    header->set_incarnation(static_cast<uint32_t>(Number()));
    header->set_number(Number());
    header->set_map_version(Number());
    header->set_token(Bytes(Below(2) * Below(20)));
    if (kind == 0) request.mutable_hello();
    if (kind == 1) FillPull(request.mutable_pull());
    if (kind == 2) FillPull(request.mutable_lookup());
    if (kind == 3) FillPush(request.mutable_push());
    return request;
  }

  proto::DataReply Reply() {
    proto::DataReply reply;
    reply.set_id(Number());
    switch (Below(5)) {
      case 0:
        reply.mutable_status()->set_code(1 + Below(16));
        reply.mutable_status()->set_message(std::string(Below(30), 'e'));
        break;
      case 1:
        reply.mutable_hello()->set_applied(Number());
        reply.mutable_hello()->set_holds_push(Below(2));
        reply.mutable_hello()->set_committed(Number());
        break;
      case 2:
        reply.mutable_pull();
        for (uint64_t n = Below(4); n > 0; --n) {
          proto::TableRows* const table = reply.mutable_pull()->add_tables();
          const size_t count = Count();
          if (Below(2)) table->set_outcomes(std::string(count, '\1'));
          table->set_rows(Bytes(count * 4 * (1 + Below(20))));
        }
        for (uint64_t n = Below(3); n > 0; --n) {
          reply.mutable_pull()->add_dense()->set_values(Bytes(4 * Below(5000)));
        }
        break;
      case 3:
        reply.mutable_push()->set_outcomes(std::string(Below(40), '\2'));
        reply.mutable_push()->set_refused_rows(Number());
        break;
      case 4:
        reply.mutable_waiting()->set_reason(std::string(Below(30), 'w'));
        break;
    }
    return reply;
  }

 private:
  void FillPull(proto::PullBody* pull) {
    pull->set_committed(Number());
    pull->set_last(Below(2));
    for (uint64_t n = Below(4); n > 0; --n) {
      proto::TableKeys* const table = pull->add_tables();
      const size_t count = 1 + Count();
      table->set_table(static_cast<uint32_t>(Number()));
      table->set_width(1 + Below(100));
      table->set_want_outcomes(Below(2));
      table->set_keys(Bytes(8 * count));
    }
    for (uint32_t n = Below(3), id = 1; n > 0; --n, id += 1 + Below(1000)) {
      proto::DenseBlocks* const dense = pull->add_dense();
      dense->set_dense(id);
      dense->set_blocks(Bytes(8 * (1 + Below(5))));
    }
  }

  void FillPush(proto::PushBody* push) {
    double weight = 0;
    const uint64_t bits = Number();
    std::memcpy(&weight, &bits, sizeof(weight));
    push->set_weight(weight);
    push->set_part(static_cast<uint32_t>(Number()));
    push->set_parts(static_cast<uint32_t>(Number()));
    if (Below(2)) push->set_refused_dense(Bytes(4 * Below(4)));
    for (uint64_t n = Below(5); n > 0; --n) {
      proto::Section* const section = push->add_sections();
      section->set_shard(static_cast<uint32_t>(Number()));
      for (uint64_t t = Below(3); t > 0; --t) {
        proto::TableGradients* const table = section->add_tables();
        const size_t count = Count();
        const uint32_t width = 1 + Below(20);
        table->set_table(static_cast<uint32_t>(Number()));
        table->set_width(count == 0 ? 0 : width);
        table->set_keys(Bytes(8 * count));
        if (Below(2)) table->set_occurrences(Bytes(4 * count));
        table->set_gradients(Bytes(4 * count * width));
      }
      for (uint64_t d = Below(3); d > 0; --d) {
        proto::DenseGradient* const dense = section->add_dense();
        dense->set_dense(static_cast<uint32_t>(Number()));
        dense->set_block(Number());
        dense->set_gradient(Bytes(4 * Below(5000)));
      }
    }
  }

  std::mt19937_64 random_;
};

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_COMMON_WIRE_RANDOM_MESSAGES_H_
