// EngineHost: lets the coordinator create tables in a ShardEngine.
#ifndef ROWAN_SERVER_SERVICE_ENGINE_HOST_H_
#define ROWAN_SERVER_SERVICE_ENGINE_HOST_H_

#include "common/status_macros.h"
#include "server/coordinator/shard_host.h"
#include "server/table/shard_engine.h"

namespace rowan {

class EngineHost final : public ShardHost {
 public:
  // `engine` outlives the host.
  explicit EngineHost(ShardEngine* engine) : engine_(engine) {}

  absl::Status AddTable(uint32_t id, const proto::TableSpec& spec) override {
    ROWAN_ASSIGN_OR_RETURN(TableSchema schema, TableSchema::Create(id, spec, spec.seed()));
    return engine_->AddTable(std::move(schema));
  }
  absl::Status AddDense(uint32_t id, const proto::DenseSpec& spec) override {
    ROWAN_ASSIGN_OR_RETURN(DenseSchema schema, DenseSchema::Create(id, spec, spec.seed()));
    return engine_->AddDense(std::move(schema));
  }

 private:
  ShardEngine* const engine_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_ENGINE_HOST_H_
