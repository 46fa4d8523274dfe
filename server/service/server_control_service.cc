#include "server/service/server_control_service.h"

#include <atomic>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/digest.h"
#include "common/grpc_status.h"
#include "proto/coordinator.grpc.pb.h"

namespace rowan {

class ServerControlService::Impl final : public proto::ServerControl::Service {
 public:
  explicit Impl(uint64_t process) : process_(process) {}

  void Serve(const Backend& backend) {
    backend_ = backend;
    serving_.store(true, std::memory_order_release);
  }

  grpc::Status Identify(grpc::ServerContext*, const proto::IdentifyRequest*, proto::IdentifyReply* reply) override {
    reply->set_process(process_);
    return grpc::Status::OK;
  }

  grpc::Status AddTable(grpc::ServerContext*, const proto::SnapshotTable* table, proto::AddTableReply*) override {
    if (!serving()) return NotYet();
    if (table->spec_case() == proto::SnapshotTable::SPEC_NOT_SET) {
      return ToGrpcStatus(absl::InvalidArgumentError("neither a table nor a dense parameter"));
    }
    return ToGrpcStatus(TellHost(backend_.host, *table));
  }

  grpc::Status GetServerStats(grpc::ServerContext*, const proto::GetServerStatsRequest* request,
                              proto::ServerStats* reply) override {
    if (!serving()) return NotYet();
    reply->set_server(backend_.number);
    reply->set_applied_steps(backend_.server->applied());
    const ApplyCounts counts = backend_.server->counts();
    reply->set_updated_rows(counts.updated_rows);
    reply->set_born_rows(counts.born_rows);
    reply->set_refused_rows(counts.refused_rows);
    FillTables(*request, reply);
    if (request->digests() && !backend_.server->ReadBetweenPushes([&] { FillDigests(*request, reply); })) {
      reply->clear_digest();
      for (proto::ShardStats& shard : *reply->mutable_shards()) shard.clear_digest();
    }
    return grpc::Status::OK;
  }

 private:
  bool serving() const { return serving_.load(std::memory_order_acquire); }
  static grpc::Status NotYet() {
    return ToGrpcStatus(absl::UnavailableError("waiting for the coordinator to take this server in"));
  }

  void FillTables(const proto::GetServerStatsRequest& request, proto::ServerStats* reply) const {
    absl::flat_hash_map<uint32_t, int> places;  // of an id in reply->tables()
    for (const auto& table : backend_.engine->Tables()) {
      places[table->id()] = reply->tables_size();
      proto::TableStats* const stats = reply->add_tables();
      stats->set_id(table->id());
      stats->set_name(table->name());
    }
    for (const auto& dense : backend_.engine->DenseParameters()) {
      places[dense->id()] = reply->tables_size();
      proto::TableStats* const stats = reply->add_tables();
      stats->set_id(dense->id());
      stats->set_name(dense->name());
      stats->set_dense(true);
    }
    for (uint32_t shard = 0; shard < backend_.engine->placement().num_shards(); ++shard) {
      if (!backend_.engine->Owns(shard)) continue;
      proto::ShardStats* const in_shard = request.shards() ? reply->add_shards() : nullptr;
      if (in_shard != nullptr) in_shard->set_shard(shard);
      for (const TableUsage& usage : backend_.engine->ShardUsage(shard)) {
        const auto place = places.find(usage.id);
        if (place == places.end()) continue;  // Added since.
        proto::TableStats* const sum = reply->mutable_tables(place->second);
        sum->set_rows(sum->rows() + usage.rows);
        sum->set_block_bytes(sum->block_bytes() + usage.block_bytes);
        sum->set_index_bytes(sum->index_bytes() + usage.index_bytes);
        if (in_shard == nullptr) continue;
        proto::TableStats* const stats = in_shard->add_tables();
        stats->set_id(usage.id);
        stats->set_name(sum->name());
        stats->set_dense(sum->dense());
        stats->set_rows(usage.rows);
        stats->set_block_bytes(usage.block_bytes);
        stats->set_index_bytes(usage.index_bytes);
      }
    }
  }

  void FillDigests(const proto::GetServerStatsRequest& request, proto::ServerStats* reply) const {
    Digest total;
    int place = 0;
    for (uint32_t shard = 0; shard < backend_.engine->placement().num_shards(); ++shard) {
      if (!backend_.engine->Owns(shard)) continue;
      const Digest digest = backend_.engine->ShardDigest(shard);
      total.Add(digest);
      if (request.shards()) reply->mutable_shards(place++)->set_digest(digest.ToHex());
    }
    reply->set_digest(total.ToHex());
  }

  const uint64_t process_;
  std::atomic<bool> serving_{false};
  Backend backend_ = {};  // does not change once serving_
};

ServerControlService::ServerControlService(uint64_t process) : impl_(std::make_unique<Impl>(process)) {}
ServerControlService::~ServerControlService() = default;
grpc::Service* ServerControlService::service() { return impl_.get(); }
void ServerControlService::Serve(const Backend& backend) { impl_->Serve(backend); }

}  // namespace rowan
