#include "server/service/server_core.h"

#include <algorithm>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/placement.h"
#include "common/shard_map.h"
#include "common/status_macros.h"
#include "server/coordinator/job_spec.h"

namespace rowan {
namespace {

ShardOwnership OwnershipOf(const proto::RegisterServerReply& registration) {
  const std::vector<uint32_t> server_of_shard(registration.map().server_of_shard().begin(),
                                              registration.map().server_of_shard().end());
  return {registration.map().version(), ShardsOf(server_of_shard, registration.server())};
}

ParameterServer::Options OptionsOf(const proto::RegisterServerReply& registration) {
  ParameterServer::Options options;
  options.job = registration.job();
  options.generation = registration.generation();
  return options;
}

}  // namespace

ServerCore::ServerCore(const proto::RegisterServerReply& registration, int threads)
    : pool_(threads),
      engine_(Placement(registration.job().num_shards()), &pool_, OwnershipOf(registration)),
      host_(&engine_),
      server_(OptionsOf(registration), &engine_) {}

absl::StatusOr<std::unique_ptr<ServerCore>> ServerCore::Create(const proto::RegisterServerReply& registration,
                                                               int threads) {
  ROWAN_RETURN_IF_ERROR(CheckJobSpec(registration.job()));
  const auto shards = static_cast<uint32_t>(registration.map().server_of_shard_size());
  if (shards != registration.job().num_shards()) {
    return absl::InvalidArgumentError(absl::StrCat("the coordinator sent a map of ", shards, " shards for a job of ",
                                                   registration.job().num_shards()));
  }
  auto core = absl::WrapUnique(new ServerCore(registration, threads));
  for (const proto::SnapshotTable& table : registration.tables()) {
    ROWAN_RETURN_IF_ERROR(TellHost(core->host(), table));
  }
  return core;
}

}  // namespace rowan
