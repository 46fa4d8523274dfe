#include "worker/client/router.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace rowan {
namespace {

// Keys by server, with their places in the caller's arrays.
struct GroupedKeys {
  explicit GroupedKeys(size_t n) : keys(new uint64_t[n]), places(new uint32_t[n]) {}

  std::unique_ptr<uint64_t[]> keys;
  std::unique_ptr<uint32_t[]> places;
};

}  // namespace

absl::Status CheckShardMap(const ShardMap& map, uint32_t num_shards) {
  if (map.server_of_shard.size() != num_shards) {
    return absl::InvalidArgumentError(absl::StrCat("shard map ", map.version, " has ", map.server_of_shard.size(),
                                                   " shards, the job has ", num_shards));
  }
  for (uint32_t shard = 0; shard < num_shards; ++shard) {
    if (map.server_of_shard[shard] < map.servers.size()) continue;
    return absl::InvalidArgumentError(absl::StrCat("shard map ", map.version, " has shard ", shard, " on server ",
                                                   map.server_of_shard[shard], " of ", map.servers.size()));
  }
  return absl::OkStatus();
}

Router::Pulls Router::Pull(std::vector<TablePull> tables, absl::Span<const Dense> dense) const {
  Pulls pulls;
  pulls.requests.resize(num_servers_);
  if (num_servers_ == 1) {
    pulls.requests[0].tables = std::move(tables);
  } else {
    size_t total = 0;
    for (const TablePull& table : tables) total += table.keys.size();
    const auto grouped = std::make_shared<GroupedKeys>(total);
    pulls.storage = grouped;
    uint64_t* keys = grouped->keys.get();
    uint32_t* places = grouped->places.get();
    std::vector<uint32_t> servers;
    for (const TablePull& table : tables) {
      const size_t n = table.keys.size();
      servers.resize(n);
      std::vector<size_t> starts(num_servers_ + 1, 0);
      for (size_t i = 0; i < n; ++i) {
        ++starts[(servers[i] = server_of_shard_[placement_.ShardOfKey(table.keys[i])]) + 1];
      }
      for (size_t s = 0; s < num_servers_; ++s) starts[s + 1] += starts[s];
      std::vector<size_t> next(starts.begin(), starts.end() - 1);
      for (size_t i = 0; i < n; ++i) {
        const size_t to = next[servers[i]]++;
        keys[to] = table.keys[i];
        places[to] = static_cast<uint32_t>(i);
      }
      for (size_t s = 0; s < num_servers_; ++s) {
        const size_t count = starts[s + 1] - starts[s];
        if (count == 0) continue;
        pulls.requests[s].tables.push_back({table.table, absl::MakeConstSpan(keys + starts[s], count), table.rows,
                                            table.outcomes, absl::MakeConstSpan(places + starts[s], count)});
      }
      keys += n;
      places += n;
    }
  }
  for (const Dense& d : dense) {
    const int64_t size = d.values.size();
    for (int64_t block = 0; block < DenseBlocks(size); ++block) {
      const size_t server = num_servers_ == 1 ? 0 : server_of_shard_[placement_.ShardOfDenseBlock(d.name, block)];
      pulls.requests[server].dense.push_back(
          {d.dense, static_cast<uint64_t>(block),
           d.values.subspan(block * kDenseBlockFloats, DenseBlockSize(size, block))});
    }
  }
  return pulls;
}

std::vector<PushRequest> Router::Push(PushRequest whole) const {
  std::vector<PushSection> sections = std::move(whole.sections);
  whole.sections.clear();
  std::vector<PushRequest> pushes(num_servers_, whole);
  if (num_servers_ == 1) {
    pushes[0].sections = std::move(sections);
    return pushes;
  }
  for (PushSection& section : sections) {
    pushes[server_of_shard_[section.shard]].sections.push_back(std::move(section));
  }
  return pushes;
}

}  // namespace rowan
