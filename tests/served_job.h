// ServedJob: a job in this process, its server reached over a transport of the test's choice.
#ifndef ROWAN_TESTS_SERVED_JOB_H_
#define ROWAN_TESTS_SERVED_JOB_H_

#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/channel.h"
#include "common/data_plane.h"
#include "common/hash.h"
#include "common/mutex.h"
#include "common/placement.h"
#include "gtest/gtest.h"
#include "server/service/data_plane_service.h"
#include "server/service/engine_sizes.h"
#include "server/service/local_job.h"
#include "worker/client/remote_data_plane.h"

namespace rowan::testing {

enum class Transport { kLocal, kTcp, kUnix };

inline std::string NameOf(const ::testing::TestParamInfo<Transport>& info) {
  return info.param == Transport::kLocal ? "Local" : info.param == Transport::kTcp ? "Tcp" : "Unix";
}

// A DataPlane behind gRPC. Ends in the right order.
class ServedPlane {
 public:
  ServedPlane(DataPlane* plane, DataPlaneSizes sizes, Transport transport,
              const DataStreamLimits& limits = DataStreamLimits(), const std::string& listen = "")
      : service_(std::make_unique<DataPlaneService>(plane, std::move(sizes), limits)) {
    ServerOptions options;
    options.max_message_bytes = service_->max_message_bytes();
    options.listen = listen.empty() ? "127.0.0.1:0" : listen;
    if (transport == Transport::kUnix) {
      char folder[] = "/tmp/rowan-served-XXXXXX";
      EXPECT_NE(mkdtemp(folder), nullptr);
      folder_ = folder;
      options.listen = absl::StrCat("unix:", folder_, "/s");
    }
    auto started = StartServer(
        options, [&](grpc::ServerBuilder& builder) { builder.RegisterCallbackGenericService(service_.get()); });
    EXPECT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
  }
  ~ServedPlane() {
    service_->Shutdown();
    server_.server->Shutdown(std::chrono::system_clock::now());
    server_.server.reset();
    service_.reset();
    if (!folder_.empty()) {
      unlink(absl::StrCat(folder_, "/s").c_str());
      rmdir(folder_.c_str());
    }
  }
  const std::string& address() const { return server_.address; }

 private:
  std::string folder_;
  std::unique_ptr<DataPlaneService> service_;
  StartedServer server_;
};

// Table 't' (id 1, width 3, SGD of rate 1, uniform initial values) and dense parameter 'd' (id 2, 5000 floats, SGD) in
// 16 shards.
class ServedJob {
 public:
  static constexpr uint32_t kTable = 1;
  static constexpr uint32_t kDense = 2;
  static constexpr int64_t kWidth = 3;
  static constexpr int64_t kDenseSize = 5000;
  static constexpr uint32_t kShards = 16;

  ServedJob(Transport transport, proto::JobSpec::Mode mode, uint32_t ranks,
            const DataStreamLimits& limits = DataStreamLimits())
      : transport_(transport) {
    proto::JobSpec job;
    job.set_mode(mode);
    job.set_num_ranks(ranks);
    job.set_num_shards(kShards);
    job.set_seed(3);
    auto created = LocalJob::Create(job, /*threads=*/2);
    EXPECT_TRUE(created.ok()) << created.status();
    job_ = *std::move(created);
    proto::TableSpec table;
    table.set_name("t");
    FillSlice(table.add_slices());
    const auto opened = job_->coordinator()->OpenTable(table);
    EXPECT_TRUE(opened.ok() && opened->id == kTable) << opened.status();
    proto::DenseSpec dense;
    dense.set_name("d");
    dense.set_size(kDenseSize);
    dense.mutable_optimizer()->set_kind(proto::Optimizer::SGD);
    dense.mutable_optimizer()->set_learning_rate(1);
    const auto opened_dense = job_->coordinator()->OpenDense(dense);
    EXPECT_TRUE(opened_dense.ok() && opened_dense->id == kDense) << opened_dense.status();
    if (transport != Transport::kLocal) {
      served_ = std::make_unique<ServedPlane>(job_->server(), EngineSizes(job_->engine()), transport, limits);
    }
  }

  LocalJob* job() { return job_.get(); }
  const std::string& address() const { return served_->address(); }

  RemoteDataPlane::Options ClientOptions() const {
    RemoteDataPlane::Options options;
    options.address = address();
    options.deadline = absl::Seconds(30);
    return options;
  }

  // The server as one more client sees it. Lives as long as the job.
  DataPlane* Connect() {
    if (transport_ == Transport::kLocal) return job_->server();
    auto plane = RemoteDataPlane::Create(ClientOptions());
    EXPECT_TRUE(plane.ok()) << plane.status();
    clients_.push_back(*std::move(plane));
    return clients_.back().get();
  }

 private:
  static void FillSlice(proto::Slice* slice) {
    slice->set_width(kWidth);
    slice->mutable_initializer()->set_kind(proto::Initializer::UNIFORM);
    slice->mutable_initializer()->set_scale(1);
    slice->mutable_optimizer()->set_kind(proto::Optimizer::SGD);
    slice->mutable_optimizer()->set_learning_rate(1);
  }

  const Transport transport_;
  std::unique_ptr<LocalJob> job_;
  std::unique_ptr<ServedPlane> served_;
  std::vector<std::unique_ptr<RemoteDataPlane>> clients_;
};

// What a callback brings to the thread that waits for it.
template <typename T>
class Promise {
 public:
  void Set(T value) {
    MutexLock lock(&mu_);
    EXPECT_FALSE(set_) << "answered twice";
    value_ = std::move(value);
    set_ = true;
    changed_.SignalAll();
  }
  bool IsSet() {
    MutexLock lock(&mu_);
    return set_;
  }
  // Fails the test, and returns T(), if nothing comes within 40 s.
  T Wait() {
    MutexLock lock(&mu_);
    const absl::Time end = absl::Now() + absl::Seconds(40);
    while (!set_ && absl::Now() < end) changed_.WaitWithTimeout(&mu_, end - absl::Now());
    EXPECT_TRUE(set_) << "no answer";
    return value_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool set_ ABSL_GUARDED_BY(mu_) = false;
  T value_ ABSL_GUARDED_BY(mu_) = T();
};

inline RequestHeader From(uint32_t rank, uint64_t number) {
  RequestHeader header;
  header.generation = 1;
  header.rank = rank;
  header.incarnation = 1;
  header.number = number;
  return header;
}

// A push of rows of one table, made of keys and one gradient value for all of a row's floats, with its storage.
inline PushRequest PushOf(const RequestHeader& header, const std::vector<uint64_t>& keys, float gradient) {
  struct Arrays {
    std::vector<std::vector<uint64_t>> keys;
    std::vector<std::vector<float>> gradients;
  };
  const Placement placement(ServedJob::kShards);
  auto arrays = std::make_shared<Arrays>();
  arrays->keys.resize(ServedJob::kShards);
  arrays->gradients.resize(ServedJob::kShards);
  for (const uint64_t key : keys) arrays->keys[placement.ShardOfKey(key)].push_back(key);
  PushRequest push;
  push.header = header;
  push.weight = 1;
  for (uint32_t s = 0; s < ServedJob::kShards; ++s) {
    if (arrays->keys[s].empty()) continue;
    arrays->gradients[s].assign(arrays->keys[s].size() * ServedJob::kWidth, gradient);
    PushSection& section = push.sections.emplace_back();
    section.shard = s;
    section.tables.push_back({ServedJob::kTable, arrays->keys[s], {}, arrays->gradients[s]});
  }
  push.storage = std::move(arrays);
  return push;
}

inline PushReply PushAndWait(DataPlane* plane, PushRequest push) {
  Promise<PushReply> promise;
  plane->Push(std::move(push), [&](PushReply reply) { promise.Set(std::move(reply)); });
  return promise.Wait();
}

// Keys and rows of a pull, and its answer.
struct TestPull {
  explicit TestPull(const RequestHeader& header, std::vector<uint64_t> k = {}) : keys(std::move(k)) {
    rows.assign(keys.size() * ServedJob::kWidth, -7);
    request.header = header;
    request.tables.push_back({ServedJob::kTable, keys, absl::MakeSpan(rows), {}});
  }
  void Start(DataPlane* plane) {
    plane->Pull(
        &request,
        [this](const std::string& what) {
          if (!waits.IsSet()) waits.Set(what);
        },
        [this](absl::Status status) { answer.Set(status); });
  }
  absl::Status Run(DataPlane* plane) {
    Start(plane);
    return answer.Wait();
  }
  absl::Status Lookup(DataPlane* plane) {
    plane->Lookup(&request, [this](absl::Status status) { answer.Set(status); });
    return answer.Wait();
  }

  std::vector<uint64_t> keys;
  std::vector<float> rows;
  PullRequest request;
  Promise<std::string> waits;
  Promise<absl::Status> answer;
};

inline std::vector<uint64_t> ManyKeys(size_t n) {
  std::vector<uint64_t> keys(n);
  for (size_t i = 0; i < n; ++i) keys[i] = i == 0 ? ~uint64_t{0} : Mix64(i - 1);
  return keys;
}

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_SERVED_JOB_H_
