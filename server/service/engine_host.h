// EngineHost: lets the coordinator create tables in a ShardEngine. Thread-safe.
#ifndef ROWAN_SERVER_SERVICE_ENGINE_HOST_H_
#define ROWAN_SERVER_SERVICE_ENGINE_HOST_H_

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/status_macros.h"
#include "server/coordinator/shard_host.h"
#include "server/table/shard_engine.h"

namespace rowan {

class EngineHost final : public ShardHost {
 public:
  // `engine` outlives the host.
  explicit EngineHost(ShardEngine* engine) : engine_(engine) {}

  absl::Status AddTable(uint32_t id, const proto::TableSpec& spec) override ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (const auto known = engine_->Table(id); known.ok()) return CheckSame(id, (*known)->spec(), spec);
    ROWAN_ASSIGN_OR_RETURN(TableSchema schema, TableSchema::Create(id, spec, spec.seed()));
    return engine_->AddTable(std::move(schema));
  }
  absl::Status AddDense(uint32_t id, const proto::DenseSpec& spec) override ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (const auto known = engine_->Dense(id); known.ok()) return CheckSame(id, (*known)->spec(), spec);
    ROWAN_ASSIGN_OR_RETURN(DenseSchema schema, DenseSchema::Create(id, spec, spec.seed()));
    return engine_->AddDense(std::move(schema));
  }

 private:
  template <typename Spec>
  static absl::Status CheckSame(uint32_t id, const Spec& known, const Spec& told) {
    if (known.SerializeAsString() == told.SerializeAsString()) return absl::OkStatus();
    return absl::AlreadyExistsError(
        absl::StrCat("table id ", id, " is taken by '", known.name(), "': it cannot become '", told.name(), "'"));
  }

  ShardEngine* const engine_;
  Mutex mu_;  // held over each call: the same table may be told twice at a time
};

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_ENGINE_HOST_H_
