#include "worker/client/split.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/wire/data_request.h"

namespace rowan {
namespace {

// More than a message needs beside its arrays: id, header, token, and for each table or block its fields' heads.
constexpr int64_t kHeadBytes = 64 << 10;
constexpr int64_t kFieldBytes = 64;

// Bytes of one key's row and outcome in the reply, or a little more.
int64_t ReplyBytesOfKey(const TablePull& pull) {
  int64_t width = WidthOf(pull);
  if (width == 0 && !pull.places.empty()) {
    // Rows fill the room up to the last place, at least.
    width = pull.rows.size() / (*std::max_element(pull.places.begin(), pull.places.end()) + int64_t{1});
  }
  return width * static_cast<int64_t>(sizeof(float)) + 1;
}

// Keys `begin` to `begin + n - 1` of a pull.
TablePull Share(const TablePull& pull, size_t begin, size_t n) {
  TablePull share = pull;
  share.width = WidthOf(pull);
  share.keys = pull.keys.subspan(begin, n);
  if (pull.places.empty()) {
    share.rows = pull.rows.subspan(begin * share.width, n * share.width);
    if (!pull.outcomes.empty()) share.outcomes = pull.outcomes.subspan(begin, n);
  } else {
    share.places = pull.places.subspan(begin, n);
  }
  return share;
}

PullRequest SameHeader(const PullRequest& request) {
  PullRequest part;
  part.header = request.header;
  part.committed = request.committed;
  part.last = request.last;
  return part;
}

}  // namespace

std::vector<PullRequest> SplitPull(const PullRequest& request, int64_t max_bytes) {
  const int64_t room = std::max<int64_t>(max_bytes - kHeadBytes, 1);
  std::vector<PullRequest> parts = {SameHeader(request)};
  int64_t reply_left = room;
  int64_t request_left = room;
  const auto next_part = [&] {
    parts.push_back(SameHeader(request));
    reply_left = request_left = room;
  };
  for (const TablePull& pull : request.tables) {
    const int64_t reply_bytes = pull.keys.empty() ? 1 : ReplyBytesOfKey(pull);
    const size_t keys = pull.keys.size();
    size_t begin = 0;
    do {
      const int64_t fit = std::min((reply_left - kFieldBytes) / reply_bytes,
                                   (request_left - kFieldBytes) / static_cast<int64_t>(sizeof(uint64_t)));
      if (fit < std::min<int64_t>(keys - begin, 1) && !(parts.back().tables.empty() && parts.back().dense.empty())) {
        next_part();
        continue;
      }
      const size_t n = std::min<size_t>(std::max<int64_t>(fit, 1), keys - begin);
      parts.back().tables.push_back(n == keys ? pull : Share(pull, begin, n));
      reply_left -= kFieldBytes + static_cast<int64_t>(n) * reply_bytes;
      request_left -= kFieldBytes + static_cast<int64_t>(n * sizeof(uint64_t));
      begin += n;
    } while (begin < keys);
  }
  for (const DensePull& pull : request.dense) {
    const int64_t bytes = kFieldBytes + static_cast<int64_t>(pull.values.size() * sizeof(float));
    if (std::min(reply_left - bytes, request_left - kFieldBytes) < 0 &&
        !(parts.back().tables.empty() && parts.back().dense.empty())) {
      next_part();
    }
    parts.back().dense.push_back(pull);
    reply_left -= bytes;
    request_left -= kFieldBytes;
  }
  return parts;
}

absl::StatusOr<std::vector<PushRequest>> SplitPush(PushRequest request, int64_t max_bytes) {
  const int64_t room = std::max<int64_t>(max_bytes - kHeadBytes, 1);
  std::vector<PushRequest> parts;
  int64_t left = 0;
  for (PushSection& section : request.sections) {
    const int64_t bytes = EncodedSize(section);
    if (bytes > room) {
      return absl::ResourceExhaustedError(absl::StrCat("a push whose section of shard ", section.shard, " has ", bytes,
                                                       " bytes, --max_message_bytes is ", max_bytes,
                                                       ": more shards make smaller sections"));
    }
    if (parts.empty() || bytes > left) {
      PushRequest& part = parts.emplace_back();
      part.header = request.header;
      part.weight = request.weight;
      part.refused_dense = request.refused_dense;
      part.storage = request.storage;
      left = room;
    }
    parts.back().sections.push_back(std::move(section));
    left -= bytes;
  }
  if (parts.empty()) parts.push_back(std::move(request));
  return parts;
}

}  // namespace rowan
