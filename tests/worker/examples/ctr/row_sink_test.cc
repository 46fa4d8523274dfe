#include "worker/examples/ctr/row_sink.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string Inflated(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string out;
  char buffer[1 << 12];
  int n;
  while ((n = gzread(file, buffer, sizeof buffer)) > 0) out.append(buffer, static_cast<size_t>(n));
  EXPECT_EQ(n, 0);
  EXPECT_EQ(gzclose_r(file), Z_OK);  // Z_BUF_ERROR where the file is cut short.
  return out;
}

// A single gzip member by the rules of zlib's plain inflate, which stops at the first member's end.
bool IsOneMember(const std::string& bytes, size_t text_size) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(text_size + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(&text[0]);
  stream.avail_out = static_cast<uInt>(text.size());
  const int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return result == Z_STREAM_END && stream.avail_in == 0 && stream.total_out == text_size;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

TEST(RowSinkTest, PlainFileAppearsWholeAtFinish) {
  const std::string path = ::testing::TempDir() + "/plain.tsv";
  auto sink = RowSink::Create(path);
  ASSERT_OK(sink);
  ASSERT_OK((*sink)->Append((*sink)->Encode("one\n")));
  EXPECT_FALSE(Exists(path));
  ASSERT_OK((*sink)->Append((*sink)->Encode("two\n")));
  ASSERT_OK((*sink)->Finish());
  EXPECT_EQ(Contents(path), "one\ntwo\n");
}

TEST(RowSinkTest, GzipBlocksMakeOneMember) {
  const std::string path = ::testing::TempDir() + "/packed.tsv.gz";
  auto sink = RowSink::Create(path);
  ASSERT_OK(sink);
  std::string text;
  for (int block = 0; block < 3; ++block) {
    std::string piece;
    for (int i = 0; i < 50000; ++i) piece += std::to_string(i * 7919 % 65537 + block) + "\n";
    ASSERT_OK((*sink)->Append((*sink)->Encode(piece)));
    text += piece;
  }
  ASSERT_OK((*sink)->Finish());
  EXPECT_EQ(Inflated(path), text);
  EXPECT_LT(Contents(path).size(), text.size());
  EXPECT_TRUE(IsOneMember(Contents(path), text.size()));
}

TEST(RowSinkTest, EmptyGzipIsValid) {
  const std::string path = ::testing::TempDir() + "/empty.gz";
  auto sink = RowSink::Create(path);
  ASSERT_OK(sink);
  ASSERT_OK((*sink)->Finish());
  EXPECT_TRUE(IsOneMember(Contents(path), 0));
}

TEST(RowSinkTest, UnfinishedLeavesTheOldFileAlone) {
  const std::string path = ::testing::TempDir() + "/kept.tsv";
  std::ofstream(path) << "old";
  {
    auto sink = RowSink::Create(path);
    ASSERT_OK(sink);
    ASSERT_OK((*sink)->Append((*sink)->Encode("new")));
  }
  EXPECT_EQ(Contents(path), "old");
}

TEST(RowSinkTest, MissingFolderNamesThePath) {
  const std::string path = ::testing::TempDir() + "/no/such/folder.tsv";
  EXPECT_THAT(RowSink::Create(path), StatusIs(absl::StatusCode::kNotFound, HasSubstr(path)));
}

TEST(RowSinkTest, FolderInPlaceOfAFileIsRefused) {
  const std::string path = ::testing::TempDir() + "/folder";
  mkdir(path.c_str(), 0777);
  EXPECT_THAT(RowSink::Create(path), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(path)));
}

TEST(RowSinkTest, FullDiskNamesPathAndByte) {
  auto sink = RowSink::Create("/dev/full");
  ASSERT_OK(sink);
  EXPECT_THAT((*sink)->Append((*sink)->Encode("row\n")),
              StatusIs(absl::StatusCode::kResourceExhausted, AllOf(HasSubstr("/dev/full"), HasSubstr("at byte 0"))));
}

}  // namespace
}  // namespace rowan
