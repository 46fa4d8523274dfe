#include "worker/examples/ctr/row_sink.h"

#include <glog/logging.h>
#include <zlib.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace rowan {
namespace {

// RFC 1952: deflate, no name, no time, fastest, unknown system.
constexpr absl::string_view kGzipHeader("\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff", 10);
// RFC 1951: a last block with nothing in it.
constexpr absl::string_view kLastBlock("\x03\x00", 2);

std::string Little32(uint32_t x) {
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(x >> shift));
  return out;
}

// Raw deflate blocks that end at a byte and refer to nothing before them.
std::string Deflate(const std::string& text) {
  z_stream stream = {};
  CHECK_EQ(deflateInit2(&stream, /*level=*/1, Z_DEFLATED, /*windowBits=*/-15, /*memLevel=*/9, Z_DEFAULT_STRATEGY), Z_OK)
      << "no memory";
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(&out[0]);
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK_EQ(deflate(&stream, Z_FULL_FLUSH), Z_OK);
  CHECK(stream.avail_in == 0 && stream.avail_out > 0) << "deflateBound was too small for " << text.size() << " bytes";
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RowSink>> RowSink::Create(absl::string_view path) {
  ROWAN_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(std::string(path)));
  std::unique_ptr<RowSink> sink(new RowSink(std::move(file), absl::EndsWith(path, ".gz")));
  if (sink->gzip_) ROWAN_RETURN_IF_ERROR(sink->file_->Write(kGzipHeader));
  return sink;
}

RowSink::Block RowSink::Encode(std::string text) const {
  Block block;
  block.text_bytes = static_cast<int64_t>(text.size());
  if (gzip_) {
    block.text_crc32 = static_cast<uint32_t>(
        crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
    block.bytes = Deflate(text);
  } else {
    block.bytes = std::move(text);
  }
  return block;
}

absl::Status RowSink::Append(const Block& block) {
  text_crc32_ = static_cast<uint32_t>(crc32_combine(text_crc32_, block.text_crc32, block.text_bytes));
  text_bytes_ += static_cast<uint64_t>(block.text_bytes);
  return file_->Write(block.bytes);
}

absl::Status RowSink::Finish() {
  if (gzip_) {
    ROWAN_RETURN_IF_ERROR(
        file_->Write(absl::StrCat(kLastBlock, Little32(text_crc32_), Little32(static_cast<uint32_t>(text_bytes_)))));
  }
  return file_->Finish();
}

}  // namespace rowan
