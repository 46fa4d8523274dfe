// The hand coding against protobuf's, in both directions, for random messages of all kinds.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/wire/data_reply.h"
#include "common/wire/data_request.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"
#include "tests/common/wire/random_messages.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::RandomMessages;
using ::rowan::testing::StatusIs;
using ::testing::HasSubstr;
using Kind = ParsedRequest::Kind;

constexpr int kMessages = 800;

// The bytes in pieces of random lengths, so that everything straddles a border now and then. In memory of their own, so
// that asan sees a read beyond them.
class Chopped {
 public:
  Chopped(const std::string& bytes, RandomMessages* random) : chain_(std::vector<absl::string_view>()) {
    std::vector<absl::string_view> views;
    for (size_t at = 0; at < bytes.size();) {
      const size_t longest = random->Below(3) == 0 ? 3 : 3000;
      const size_t n = std::min<size_t>(bytes.size() - at, random->Below(longest));
      pieces_.emplace_back(bytes.begin() + at, bytes.begin() + at + n);
      at += n;
    }
    for (const auto& piece : pieces_) views.emplace_back(piece.data(), piece.size());
    chain_ = ByteChain(std::move(views));
  }
  const ByteChain& chain() const { return chain_; }

 private:
  std::vector<std::vector<char>> pieces_;
  ByteChain chain_;
};

std::string Joined(const WireMessage& message) {
  std::string bytes;
  for (const WirePiece& piece : message.pieces) bytes.append(piece.bytes.data(), piece.bytes.size());
  EXPECT_EQ(bytes.size(), message.size);
  return bytes;
}

template <typename T>
std::vector<T> Words(const std::string& bytes) {
  std::vector<T> words(bytes.size() / sizeof(T));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(T));
  return words;
}

template <typename T>
std::string Raw(absl::Span<const T> words) {
  return std::string(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(T));
}

RequestHeader HeaderOf(const proto::DataHeader& header) {
  return {header.generation(), header.rank(), header.incarnation(), header.number(), header.map_version()};
}

// A request of common/data_plane.h with its arrays.
struct OwnedPull {
  explicit OwnedPull(const proto::DataRequest& from) {
    const proto::PullBody& body = from.has_pull() ? from.pull() : from.lookup();
    request.header = HeaderOf(from.header());
    request.committed = body.committed();
    request.last = body.last();
    for (const proto::TableKeys& table : body.tables()) {
      keys.push_back(Words<uint64_t>(table.keys()));
      rows.emplace_back(keys.back().size() * table.width());
      outcomes.emplace_back(table.want_outcomes() ? keys.back().size() : 0);
    }
    for (int i = 0; i < body.tables_size(); ++i) {
      request.tables.push_back({body.tables(i).table(), keys[i], absl::MakeSpan(rows[i]), absl::MakeSpan(outcomes[i])});
    }
    for (const proto::DenseBlocks& dense : body.dense()) {
      for (const uint64_t block : Words<uint64_t>(dense.blocks())) request.dense.push_back({dense.dense(), block, {}});
    }
  }
  std::vector<std::vector<uint64_t>> keys;
  std::vector<std::vector<float>> rows;
  std::vector<std::vector<Outcome>> outcomes;
  PullRequest request;
};

// What a parsed request says, as protobuf would.
proto::DataRequest Rebuilt(const ByteChain& chain, const ParsedRequest& parsed) {
  proto::DataRequest request;
  request.set_id(parsed.id);
  if (parsed.kind == Kind::kCancel) {
    request.mutable_cancel()->set_id(parsed.cancelled);
    return request;
  }
  proto::DataHeader* const header = request.mutable_header();
  header->set_generation(parsed.header.generation);
  header->set_rank(parsed.header.rank);
  header->set_incarnation(parsed.header.incarnation);
  header->set_number(parsed.header.number);
  header->set_map_version(parsed.header.map_version);
  header->set_token(parsed.token);
  if (parsed.kind == Kind::kHello) request.mutable_hello();
  if (parsed.kind == Kind::kPull || parsed.kind == Kind::kLookup) {
    proto::PullBody* const pull = parsed.kind == Kind::kPull ? request.mutable_pull() : request.mutable_lookup();
    pull->set_committed(parsed.committed);
    pull->set_last(parsed.last);
    for (const ParsedTableKeys& table : parsed.pull_tables) {
      proto::TableKeys* const to = pull->add_tables();
      to->set_table(table.table);
      to->set_width(table.width);
      to->set_want_outcomes(table.want_outcomes);
      to->set_wire_type(static_cast<proto::WireType>(table.wire_type));
      to->set_keys(chain.ToString(table.keys));
    }
    for (const ParsedDenseBlocks& dense : parsed.pull_dense) {
      proto::DenseBlocks* const to = pull->add_dense();
      to->set_dense(dense.dense);
      to->set_size(dense.size);
      to->set_blocks(chain.ToString(dense.blocks));
    }
  }
  if (parsed.kind == Kind::kPush) {
    proto::PushBody* const push = request.mutable_push();
    push->set_weight(parsed.weight);
    push->set_part(parsed.part);
    push->set_parts(parsed.parts);
    push->set_refused_dense(chain.ToString(parsed.refused_dense));
    size_t t = 0, d = 0;
    for (const ParsedSection& section : parsed.sections) {
      proto::Section* const to = push->add_sections();
      to->set_shard(section.shard);
      for (; t < section.tables_end; ++t) {
        const ParsedGradients& table = parsed.push_tables[t];
        proto::TableGradients* const gradients = to->add_tables();
        gradients->set_table(table.table);
        gradients->set_width(table.width);
        gradients->set_wire_type(static_cast<proto::WireType>(table.wire_type));
        gradients->set_keys(chain.ToString(table.keys));
        gradients->set_occurrences(chain.ToString(table.occurrences));
        gradients->set_gradients(chain.ToString(table.gradients));
      }
      for (; d < section.dense_end; ++d) {
        const ParsedDenseGradient& dense = parsed.push_dense[d];
        proto::DenseGradient* const gradient = to->add_dense();
        gradient->set_dense(dense.dense);
        gradient->set_block(dense.block);
        gradient->set_gradient(chain.ToString(dense.gradient));
      }
    }
  }
  return request;
}

TEST(SameBytesTest, RequestsAreWrittenAsProtobufWritesThem) {
  RandomMessages random(1);
  BufferPool pool(1 << 20);
  for (int i = 0; i < kMessages; ++i) {
    const proto::DataRequest request = random.Request();
    const std::string expected = request.SerializeAsString();
    const std::string& token = request.header().token();
    WireMessage message;
    if (request.has_cancel()) {
      message = EncodeCancel(request.id(), request.cancel().id());
    } else if (request.has_hello()) {
      message = EncodeHello(request.id(), HeaderOf(request.header()), token);
    } else if (request.has_push()) {
      const Chopped chopped(expected, &random);
      const auto parsed = ParseRequest(chopped.chain());
      ASSERT_OK(parsed);
      const auto push = DecodePush(chopped.chain(), *parsed, &pool);
      ASSERT_OK(push);
      message = EncodePush(request.id(), *push, request.push().part(), request.push().parts(), token,
                           random.Below(2) ? &pool : nullptr);
    } else {
      const OwnedPull pull(request);
      message = EncodePull(request.id(), pull.request, request.has_lookup(), token);
    }
    ASSERT_EQ(Joined(message), expected) << request.ShortDebugString().substr(0, 1000);
  }
}

TEST(SameBytesTest, RequestsAreReadAsProtobufReadsThem) {
  RandomMessages random(2);
  for (int i = 0; i < kMessages; ++i) {
    const std::string bytes = random.Request().SerializeAsString();
    const Chopped chopped(bytes, &random);
    const auto parsed = ParseRequest(chopped.chain());
    ASSERT_OK(parsed);
    ASSERT_EQ(Rebuilt(chopped.chain(), *parsed).SerializeAsString(), bytes);
  }
}

TEST(SameBytesTest, DecodedPushesHoldTheirArrays) {
  RandomMessages random(3);
  BufferPool pool(1 << 20);
  int tables = 0;
  for (int i = 0; i < kMessages; ++i) {
    const proto::DataRequest request = random.Request();
    if (!request.has_push()) continue;
    const Chopped chopped(request.SerializeAsString(), &random);
    const auto parsed = ParseRequest(chopped.chain());
    ASSERT_OK(parsed);
    const auto push = DecodePush(chopped.chain(), *parsed, &pool);
    ASSERT_OK(push);
    ASSERT_EQ(push->sections.size(), static_cast<size_t>(request.push().sections_size()));
    for (size_t s = 0; s < push->sections.size(); ++s) {
      const proto::Section& from = request.push().sections(s);
      const PushSection& section = push->sections[s];
      ASSERT_EQ(section.tables.size(), static_cast<size_t>(from.tables_size()));
      for (size_t t = 0; t < section.tables.size(); ++t, ++tables) {
        ASSERT_EQ(Raw(section.tables[t].keys), from.tables(t).keys());
        ASSERT_EQ(Raw(section.tables[t].occurrences), from.tables(t).occurrences());
        ASSERT_EQ(Raw(section.tables[t].gradients), from.tables(t).gradients());
      }
      for (size_t d = 0; d < section.dense.size(); ++d) {
        ASSERT_EQ(Raw(section.dense[d].gradient), from.dense(d).gradient());
      }
    }
  }
  EXPECT_GT(tables, 50);
}

TEST(SameBytesTest, RepliesAreWrittenAsProtobufWritesThem) {
  RandomMessages random(4);
  for (int i = 0; i < kMessages; ++i) {
    const proto::DataReply reply = random.Reply();
    WireMessage message;
    // Whatever owns the arrays.
    const auto storage = random.Below(2) ? std::make_shared<int>(0) : nullptr;
    std::vector<std::vector<float>> floats;
    if (reply.has_status()) {
      message = EncodeError(
          reply.id(), absl::Status(static_cast<absl::StatusCode>(reply.status().code()), reply.status().message()));
    } else if (reply.has_hello()) {
      message = EncodeHelloReply(reply.id(),
                                 {reply.hello().applied(), reply.hello().holds_push(), reply.hello().committed()});
    } else if (reply.has_pull()) {
      for (const auto& table : reply.pull().tables()) floats.push_back(Words<float>(table.rows()));
      for (const auto& dense : reply.pull().dense()) floats.push_back(Words<float>(dense.values()));
      std::vector<RowsReply> tables;
      std::vector<absl::Span<const float>> dense;
      for (const auto& table : reply.pull().tables()) {
        tables.push_back({{reinterpret_cast<const Outcome*>(table.outcomes().data()), table.outcomes().size()},
                          floats[tables.size()]});
      }
      while (tables.size() + dense.size() < floats.size()) dense.push_back(floats[tables.size() + dense.size()]);
      message = EncodePullReply(reply.id(), tables, dense, storage);
      ASSERT_LE(message.size, PullReplySizeLimit(tables.size(), dense.size(), [&] {
                  size_t bytes = 0;
                  for (const auto& table : reply.pull().tables()) bytes += table.outcomes().size();
                  for (const auto& values : floats) bytes += values.size() * sizeof(float);
                  return bytes;
                }()));
    } else if (reply.has_push()) {
      const std::string& outcomes = reply.push().outcomes();
      message = EncodePushReply(reply.id(), {reinterpret_cast<const SectionOutcome*>(outcomes.data()), outcomes.size()},
                                reply.push().refused_rows());
    } else {
      message = EncodeWaiting(reply.id(), reply.waiting().reason());
    }
    ASSERT_EQ(Joined(message), reply.SerializeAsString()) << reply.ShortDebugString().substr(0, 1000);
  }
}

TEST(SameBytesTest, RepliesAreReadAsProtobufReadsThem) {
  RandomMessages random(5);
  for (int i = 0; i < kMessages; ++i) {
    const proto::DataReply reply = random.Reply();
    const Chopped chopped(reply.SerializeAsString(), &random);
    const auto parsed = ParseReply(chopped.chain());
    ASSERT_OK(parsed);
    EXPECT_EQ(parsed->id, reply.id());
    EXPECT_EQ(static_cast<uint32_t>(parsed->status.code()), reply.status().code());
    EXPECT_EQ(parsed->status.message(), reply.status().message());
    EXPECT_EQ(parsed->hello.applied, reply.hello().applied());
    EXPECT_EQ(parsed->hello.holds_push, reply.hello().holds_push());
    EXPECT_EQ(parsed->hello.committed, reply.hello().committed());
    EXPECT_EQ(parsed->waiting, reply.waiting().reason());
    EXPECT_EQ(parsed->refused_rows, reply.push().refused_rows());
    EXPECT_EQ(chopped.chain().ToString(parsed->outcomes), reply.push().outcomes());
    ASSERT_EQ(parsed->tables.size(), static_cast<size_t>(reply.pull().tables_size()));
    for (size_t t = 0; t < parsed->tables.size(); ++t) {
      EXPECT_EQ(chopped.chain().ToString(parsed->tables[t].rows), reply.pull().tables(t).rows());
      EXPECT_EQ(chopped.chain().ToString(parsed->tables[t].outcomes), reply.pull().tables(t).outcomes());
    }
    ASSERT_EQ(parsed->dense.size(), static_cast<size_t>(reply.pull().dense_size()));
    for (size_t d = 0; d < parsed->dense.size(); ++d) {
      EXPECT_EQ(chopped.chain().ToString(parsed->dense[d]), reply.pull().dense(d).values());
    }
  }
}

// Bytes as no sane writer makes them: bits flipped, ends cut, messages one after the other (which merges them), other
// messages' bytes inside. Read without harm, taken or refused as protobuf does, with the same contents.
TEST(SameBytesTest, DamagedRequestsAreTakenAndRefusedAsByProtobuf) {
  RandomMessages random(6);
  BufferPool pool(1 << 20);
  int taken = 0, refused = 0;
  for (int i = 0; i < 20 * kMessages; ++i) {
    std::string bytes = random.Request().SerializeAsString();
    if (bytes.size() > 2000) continue;
    if (random.Below(3) == 0) bytes += random.Request().SerializeAsString();
    if (random.Below(4) == 0) bytes.insert(random.Below(bytes.size() + 1), random.Bytes(random.Below(12)));
    if (random.Below(4) == 0) bytes.resize(random.Below(bytes.size() + 1));
    for (uint64_t n = random.Below(4); n > 0 && !bytes.empty(); --n) {
      bytes[random.Below(std::min<size_t>(bytes.size(), 60))] ^= 1 << random.Below(8);
    }
    const Chopped chopped(bytes, &random);
    const auto parsed = ParseRequest(chopped.chain());
    proto::DataRequest expected;
    const bool valid = expected.ParseFromString(bytes);
    ASSERT_EQ(parsed.ok(), valid) << parsed.status();
    if (!valid) {
      ASSERT_THAT(parsed, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(" at byte ")));
      ++refused;
      continue;
    }
    ++taken;
    if (parsed->kind == Kind::kPush) (void)DecodePush(chopped.chain(), *parsed, &pool);
    // Compared without what nobody knows, and with what the hand coding always writes.
    expected.DiscardUnknownFields();
    if (expected.body_case() == proto::DataRequest::kCancel) {
      expected.clear_header();
    } else {
      expected.mutable_header();
    }
    if (parsed->kind != Kind::kNone || expected.body_case() != proto::DataRequest::BODY_NOT_SET) {
      ASSERT_EQ(Rebuilt(chopped.chain(), *parsed).SerializeAsString(), expected.SerializeAsString());
    }
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(SameBytesTest, RandomBytesDoNoHarm) {
  RandomMessages random(7);
  for (int i = 0; i < 20 * kMessages; ++i) {
    const std::string bytes = random.Bytes(random.Below(100));
    const Chopped chopped(bytes, &random);
    proto::DataRequest request;
    ASSERT_EQ(ParseRequest(chopped.chain()).ok(), request.ParseFromString(bytes));
    // protobuf refuses texts that are no UTF-8 as well.
    proto::DataReply reply;
    if (reply.ParseFromString(bytes)) {
      ASSERT_OK(ParseReply(chopped.chain()));
    }
  }
}

TEST(SameBytesTest, ManyEmptyPartsAreRefusedBeforeTheyFillTheMemory) {
  proto::DataRequest request;
  for (size_t i = 0; i <= kMaxRequestParts; ++i) request.mutable_push()->add_sections();
  const std::string bytes = request.SerializeAsString();
  EXPECT_THAT(ParseRequest(ByteChain(std::vector<absl::string_view>{bytes})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 1048576 tables, sections")));
}

TEST(SameBytesTest, TextsBecomeValidUtf8) {
  const std::string text = "t\xff \xc3\xa4 \xed\xa0\x80 \xf0\x9f\x98\x80 \xe2\x82";
  proto::DataReply reply;
  ASSERT_TRUE(reply.ParseFromString(Joined(EncodeError(1, absl::NotFoundError(text)))));
  EXPECT_EQ(reply.status().message(), "t? \xc3\xa4 ??? \xf0\x9f\x98\x80 ??");
}

// Each with one number wrong.
TEST(SameBytesTest, PushesWhoseArraysDoNotFitAreRefused) {
  BufferPool pool(1 << 20);
  struct Case {
    size_t keys, occurrences, gradients;
    uint32_t width;
    bool fits;
  };
  for (const Case& c : std::vector<Case>{{16, 8, 24, 3, true},
                                         {16, 8, 24, 0, true},
                                         {16, 0, 24, 3, true},
                                         {0, 0, 0, 3, true},
                                         {15, 8, 24, 3, false},
                                         {16, 7, 24, 3, false},
                                         {16, 4, 24, 3, false},
                                         {16, 8, 20, 3, false},
                                         {16, 8, 23, 0, false},
                                         {16, 8, 24, 4294967295u, false},
                                         {0, 0, 4, 0, false}}) {
    proto::DataRequest request;
    proto::Section* const section = request.mutable_push()->add_sections();
    section->set_shard(12);
    proto::TableGradients* const table = section->add_tables();
    table->set_table(34);
    table->set_width(c.width);
    table->set_keys(std::string(c.keys, 'k'));
    table->set_occurrences(std::string(c.occurrences, 'o'));
    table->set_gradients(std::string(c.gradients, 'g'));
    const std::string bytes = request.SerializeAsString();
    const ByteChain chain(std::vector<absl::string_view>{bytes});
    const auto parsed = ParseRequest(chain);
    ASSERT_OK(parsed);
    const auto push = DecodePush(chain, *parsed, &pool);
    if (c.fits) {
      EXPECT_OK(push);
    } else {
      EXPECT_THAT(push, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("shard 12, table 34")));
    }
  }
}

}  // namespace
}  // namespace rowan
