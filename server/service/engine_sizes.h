// EngineSizes: what a DataPlaneService asks of a ShardEngine.
#ifndef ROWAN_SERVER_SERVICE_ENGINE_SIZES_H_
#define ROWAN_SERVER_SERVICE_ENGINE_SIZES_H_

#include "common/status_macros.h"
#include "server/service/data_stream.h"
#include "server/table/shard_engine.h"

namespace rowan {

// `engine` outlives what is returned.
inline DataPlaneSizes EngineSizes(const ShardEngine* engine) {
  return {[engine](uint32_t table) -> absl::StatusOr<int64_t> {
            ROWAN_ASSIGN_OR_RETURN(const auto schema, engine->Table(table));
            return schema->width();
          },
          [engine](uint32_t dense) -> absl::StatusOr<int64_t> {
            ROWAN_ASSIGN_OR_RETURN(const auto schema, engine->Dense(dense));
            return schema->size();
          }};
}

}  // namespace rowan

#endif  // ROWAN_SERVER_SERVICE_ENGINE_SIZES_H_
