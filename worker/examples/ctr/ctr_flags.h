// The flags of rowan-ctr, with their rules. Which command takes which: rowan_ctr.cc.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CTR_FLAGS_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CTR_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/flags/declare.h"
#include "proto/job.pb.h"

ABSL_DECLARE_FLAG(int64_t, rows);
ABSL_DECLARE_FLAG(std::string, out);
ABSL_DECLARE_FLAG(uint64_t, seed);
ABSL_DECLARE_FLAG(int32_t, threads);
ABSL_DECLARE_FLAG(std::string, data);
ABSL_DECLARE_FLAG(std::string, test_data);
ABSL_DECLARE_FLAG(double, max_bad_share);
ABSL_DECLARE_FLAG(int64_t, batch_size);
ABSL_DECLARE_FLAG(int64_t, epochs);
ABSL_DECLARE_FLAG(std::string, shuffle);
ABSL_DECLARE_FLAG(bool, pipeline);
ABSL_DECLARE_FLAG(int32_t, workers);
ABSL_DECLARE_FLAG(int32_t, shards);
ABSL_DECLARE_FLAG(std::string, mode);
ABSL_DECLARE_FLAG(std::string, coordinators);
ABSL_DECLARE_FLAG(bool, unix_sockets);
ABSL_DECLARE_FLAG(double, row_learning_rate);
ABSL_DECLARE_FLAG(double, dense_learning_rate);
ABSL_DECLARE_FLAG(std::string, model_dir);
ABSL_DECLARE_FLAG(std::string, summary_json);
ABSL_DECLARE_FLAG(bool, profile);

namespace rowan {

// What the checked flags mean.
int64_t ShuffleWindow();               // rows, as in worker/data/order.h
void SetMode(proto::JobSpec* job);     // mode and staleness
int Threads();                         // --threads, or one a core

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CTR_FLAGS_H_
