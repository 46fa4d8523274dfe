#include "common/snapshot/manifest.h"

#include <google/protobuf/util/message_differencer.h>

#include <functional>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "common/crc32c.h"
#include "tests/common/snapshot/snapshot_fixture.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

proto::SnapshotManifest Manifest() {
  proto::SnapshotManifest manifest = testing::SmallManifest();
  manifest.set_format_version(1);
  manifest.set_id(17);
  manifest.mutable_tables(0)->mutable_table()->add_slices()->mutable_optimizer()->set_learning_rate(0.1f);
  manifest.set_digest("00112233445566778899aabbccddeeff");
  proto::SnapshotFile* file = manifest.add_files();
  file->set_name("shard-00003.sst");
  file->set_shard(3);
  file->set_bytes((1 << 20) + 1);
  file->add_piece_crc32c(7);
  file->add_piece_crc32c(8);
  return manifest;
}

// `text` with a checksum line that is right.
std::string Sealed(const std::string& text) { return text + absl::StrFormat("# crc32c %08x\n", Crc32c(text)); }

TEST(ManifestTest, RoundTripIsExact) {
  const absl::StatusOr<proto::SnapshotManifest> back = ParseManifest(EncodeManifest(Manifest()), "MANIFEST");
  ASSERT_OK(back);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*back, Manifest()));
}

// Old snapshots must be readable for ever: this text may gain lines, not change.
TEST(ManifestTest, TextIsFrozen) {
  proto::SnapshotManifest manifest;
  manifest.set_format_version(1);
  manifest.set_id(~uint64_t{0});
  manifest.mutable_job()->set_num_shards(2);
  proto::SnapshotFile* const file = manifest.add_files();
  file->set_name("shard-00001.sst");
  file->set_shard(1);
  file->set_bytes(7);
  file->set_crc32c(0xffffffff);
  file->set_entries(1);
  file->add_piece_crc32c(0xffffffff);
  proto::ApplicationEntry* const entry = manifest.add_application();
  entry->set_key("software");
  entry->set_value("a\n\xff");
  const std::string text =
      "format_version: 1\nid: 18446744073709551615\njob {\n  num_shards: 2\n}\n"
      "files {\n  name: \"shard-00001.sst\"\n  shard: 1\n  bytes: 7\n  crc32c: 4294967295\n  entries: 1\n"
      "  piece_crc32c: [4294967295]\n}\n"
      "application {\n  key: \"software\"\n  value: \"a\\n\\377\"\n}\n";
  EXPECT_EQ(EncodeManifest(manifest), Sealed(text));
  EXPECT_OK(ParseManifest(Sealed(text), "m"));
}

TEST(ManifestTest, ApplicationEntriesAreFoundByKey) {
  const proto::SnapshotManifest manifest = Manifest();
  ASSERT_NE(FindApplicationEntry(manifest, "model"), nullptr);
  EXPECT_EQ(*FindApplicationEntry(manifest, "model"), manifest.application(0).value());
  EXPECT_EQ(FindApplicationEntry(manifest, "mode"), nullptr);
}

TEST(ManifestTest, EveryTruncationIsDataLoss) {
  const std::string bytes = EncodeManifest(Manifest());
  for (size_t n = 0; n < bytes.size(); ++n) {
    ASSERT_THAT(ParseManifest(bytes.substr(0, n), "m"), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short")))
        << n;
  }
}

TEST(ManifestTest, EveryBitFlipIsDataLoss) {
  const std::string bytes = EncodeManifest(Manifest());
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
    ASSERT_THAT(ParseManifest(flipped, "m"), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("m"))) << bit;
  }
}

TEST(ManifestTest, EditIsRefusedWithBothChecksums) {
  const std::string bytes = EncodeManifest(Manifest());
  const std::string edited = absl::StrReplaceAll(bytes, {{"generation: 5", "generation: 6"}});
  ASSERT_NE(edited, bytes);
  const std::string expected = bytes.substr(bytes.size() - 9, 8);
  EXPECT_THAT(ParseManifest(edited, "dir/MANIFEST"),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(absl::StrCat("dir/MANIFEST, bytes 0 to ", bytes.size() - 18)),
                             HasSubstr(absl::StrFormat("crc32c %08x", Crc32c(edited.substr(0, bytes.size() - 18)))),
                             HasSubstr("expected " + expected))));
  EXPECT_THAT(ParseManifest(bytes + "\n", "m"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short or edited")));
}

TEST(ManifestTest, UnknownVersionIsNamed) {
  // The text of a later version may be anything.
  EXPECT_THAT(ParseManifest(Sealed("format_version: 2\nid: { a: 7 }\n"), "m"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "m: format version 2; this build reads version 1"));
  EXPECT_THAT(ParseManifest(Sealed("id: 7\n"), "m"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("format version 0;")));
}

TEST(ManifestTest, UnknownFieldsAreIgnoredUnknownValuesAreNot) {
  const std::string base = "format_version: 1\nid: 17\njob { num_shards: 4 later: 1 ";
  EXPECT_OK(ParseManifest(Sealed(base + "}\nnews { of { tomorrow: \"x\" } }\n"), "m"));
  EXPECT_THAT(ParseManifest(Sealed(base + "mode: TELEPATHIC }\n"), "m"),
              StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("line 3"), HasSubstr("TELEPATHIC"))));
}

TEST(ManifestTest, NonsenseNamesItsField) {
  const auto check = [](const std::function<void(proto::SnapshotManifest*)>& spoil) {
    proto::SnapshotManifest manifest = Manifest();
    spoil(&manifest);
    return ParseManifest(EncodeManifest(manifest), "m").status();
  };
  const auto invalid = [](const char* text) { return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)); };
  EXPECT_OK(check([](auto*) {}));
  EXPECT_THAT(check([](auto* m) { m->set_parent_id(3); }), invalid("parent_id is 3"));
  EXPECT_THAT(check([](auto* m) { m->mutable_job()->set_num_shards(3); }), invalid("num_shards is 3"));
  EXPECT_THAT(check([](auto* m) { m->mutable_job()->set_num_shards(131072); }), invalid("num_shards is 131072"));
  EXPECT_THAT(check([](auto* m) { m->mutable_tables(1)->set_id(1); }), invalid("id 1 after 1"));
  EXPECT_THAT(check([](auto* m) { m->mutable_tables(0)->set_id(0); }), invalid("id 0 after 0"));
  EXPECT_THAT(check([](auto* m) { m->mutable_tables(1)->clear_spec(); }), invalid("id 2 has no spec"));
  EXPECT_THAT(check([](auto* m) { m->mutable_files(0)->set_shard(4); }), invalid("shard 4"));
  EXPECT_THAT(check([](auto* m) { *m->add_files() = m->files(0); }), invalid("shard 3 after 3"));
  EXPECT_THAT(check([](auto* m) { m->mutable_files(0)->set_name("../x"); }), invalid("named '../x'"));
  EXPECT_THAT(check([](auto* m) { m->mutable_files(0)->add_piece_crc32c(1); }),
              invalid("3 piece checksums, expected 2"));
  EXPECT_THAT(check([](auto* m) { *m->add_application() = m->application(0); }), invalid("key 'model' twice"));
  EXPECT_THAT(check([](auto* m) { m->set_digest("12"); }), invalid("digest is '12'"));
}

}  // namespace
}  // namespace rowan
