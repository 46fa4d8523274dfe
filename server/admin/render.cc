#include "server/admin/render.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/job_mode.h"

namespace rowan {
namespace {

bool IsNumber(const std::string& cell) {
  return !cell.empty() && (absl::ascii_isdigit(cell[0]) || (cell.size() > 1 && cell[0] == '-' && cell[1] != ' '));
}

std::string Mebibytes(uint64_t bytes) { return absl::StrFormat("%.1f", static_cast<double>(bytes) / (1 << 20)); }

std::string Ago(uint64_t milliseconds) { return absl::FormatDuration(absl::Milliseconds(milliseconds)); }

template <typename Strings>
std::string Missing(const Strings& unreachable) {
  std::string text;
  for (const std::string& what : unreachable) absl::StrAppend(&text, "missing: ", what, "\n");
  return text;
}

}  // namespace

std::string RenderTable(const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(heading.size());
  std::vector<bool> right(heading.size(), !rows.empty());
  for (size_t c = 0; c < heading.size(); ++c) {
    widths[c] = heading[c].size();
    for (const auto& row : rows) {
      widths[c] = std::max(widths[c], row[c].size());
      right[c] = right[c] && (IsNumber(row[c]) || row[c] == "-");
    }
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string blanks(widths[c] - cells[c].size(), ' ');
      absl::StrAppend(&line, c == 0 ? "" : "  ", right[c] ? blanks : "", cells[c], right[c] ? "" : blanks);
    }
    absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
  };
  append(heading);
  for (const auto& row : rows) append(row);
  return text;
}

std::string Render(const proto::ClusterStatus& status) {
  std::string text =
      absl::StrCat("job      ", status.state(), "\n", "mode     ", JobModeText(status.job()), ", generation ",
                   status.generation(), ", ", status.job().num_shards(), " shards, map version ",
                   status.map().version(), "\n", "tables   ", status.tables_size(), "\n\n");
  std::vector<std::vector<std::string>> servers;
  for (const proto::ServerStatus& server : status.servers()) {
    const bool missing = server.incarnation() == 0;
    servers.push_back({absl::StrCat(server.server()), missing ? "-" : absl::CEscape(server.name()),
                       missing ? "-" : server.address().tcp(), server.state(), absl::StrCat(server.incarnation()),
                       absl::StrCat(server.shards()), absl::StrCat(server.applied_steps()),
                       missing ? "-" : Ago(server.last_heard_ms())});
  }
  absl::StrAppend(
      &text, RenderTable({"SERVER", "NAME", "ADDRESS", "STATE", "INCARNATION", "SHARDS", "STEPS", "HEARD"}, servers),
      "\n");
  std::vector<std::vector<std::string>> workers;
  for (const proto::WorkerStatus& worker : status.workers()) {
    const bool missing = worker.incarnation() == 0;
    workers.push_back({absl::StrCat(worker.rank()), missing ? "-" : absl::CEscape(worker.host()), worker.state(),
                       absl::StrCat(worker.incarnation()), absl::StrCat(worker.position().step()),
                       absl::StrCat(worker.position().epoch()), absl::StrCat(worker.position().samples()),
                       missing ? "-" : Ago(worker.last_heard_ms())});
  }
  absl::StrAppend(&text,
                  RenderTable({"RANK", "HOST", "STATE", "INCARNATION", "STEP", "EPOCH", "SAMPLES", "HEARD"}, workers));
  return text;
}

std::string Render(const proto::TablesReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const proto::TableReport& table : report.tables()) {
    rows.push_back({absl::StrCat(table.id()), absl::CEscape(table.name()), table.dense() ? "dense" : "rows",
                    absl::StrCat(table.width()), absl::StrCat(table.rows()), Mebibytes(table.block_bytes()),
                    Mebibytes(table.index_bytes())});
  }
  return absl::StrCat(RenderTable({"ID", "NAME", "KIND", "FLOATS", "ROWS", "MIB", "INDEX MIB"}, rows),
                      Missing(report.unreachable()));
}

std::string Render(const proto::ShardsReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const proto::ShardReport& shard : report.shards()) {
    rows.push_back({absl::StrCat(shard.shard()), absl::StrCat(shard.server()), absl::StrCat(shard.rows()),
                    absl::StrCat(shard.blocks()), Mebibytes(shard.bytes())});
    if (!report.digest().empty()) rows.back().push_back(shard.digest());
  }
  std::vector<std::string> heading = {"SHARD", "SERVER", "ROWS", "BLOCKS", "MIB"};
  if (!report.digest().empty()) heading.push_back("DIGEST");
  return absl::StrCat(RenderTable(heading, rows),
                      report.digest().empty() ? "" : absl::StrCat("digest ", report.digest(), "\n"),
                      Missing(report.unreachable()));
}

std::string Render(const proto::RowReport& report) {
  std::string text =
      absl::StrCat(absl::CEscape(report.table()), " ", report.key(), " (0x", absl::Hex(report.key()),
                   "): ", report.outcome(), ", shard ", report.shard(), " on server ", report.server(), "\n");
  for (const proto::RowReport::Slice& slice : report.slices()) {
    if (!slice.name().empty()) absl::StrAppend(&text, absl::CEscape(slice.name()), ":");
    for (const float value : slice.values()) {
      absl::StrAppend(&text, text.back() == '\n' ? "" : " ", absl::StrFormat("%.9g", value));
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace rowan
