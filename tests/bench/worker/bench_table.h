// The table that transport_server serves and transport_bench knows: 64 floats a row, Adagrad, row i under Mix64(i).
#ifndef ROWAN_TESTS_BENCH_WORKER_BENCH_TABLE_H_
#define ROWAN_TESTS_BENCH_WORKER_BENCH_TABLE_H_

#include <cstdint>

#include "common/hash.h"
#include "glog/logging.h"
#include "server/table/table_schema.h"

namespace rowan::bench {

inline constexpr int64_t kWidth = 64;
inline constexpr uint32_t kShards = 256;
// Pulled only, so that its rows can be compared; and pushed to.
inline constexpr uint32_t kPullTable = 1;
inline constexpr uint32_t kPushTable = 2;

inline uint64_t KeyOf(int64_t row) { return Mix64(row); }

inline TableSchema MakeSchema(uint32_t id) {
  proto::TableSpec spec;
  spec.set_name(id == kPullTable ? "pulled" : "pushed");
  proto::Slice* const slice = spec.add_slices();
  slice->set_width(kWidth);
  slice->mutable_initializer()->set_kind(proto::Initializer::UNIFORM);
  slice->mutable_initializer()->set_scale(0.01f);
  slice->mutable_optimizer()->set_kind(proto::Optimizer::ADAGRAD);
  auto schema = TableSchema::Create(id, spec, /*seed=*/7);
  CHECK(schema.ok()) << schema.status();
  return *std::move(schema);
}

}  // namespace rowan::bench

#endif  // ROWAN_TESTS_BENCH_WORKER_BENCH_TABLE_H_
