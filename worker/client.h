// Client: a worker's connection to a Rowan job. The public API for users who bring their own model.
//
//   rowan::Client::Options options;
//   options.coordinators = "c0:7700";
//   ROWAN_ASSIGN_OR_RETURN(auto client, rowan::Client::Connect(options));
//   ROWAN_ASSIGN_OR_RETURN(rowan::Table ads, client->OpenTable(ads_spec));
//   ROWAN_ASSIGN_OR_RETURN(rowan::Dense tower, client->OpenDense(tower_spec));
//   for (each batch) {
//     ROWAN_ASSIGN_OR_RETURN(rowan::Step step, client->BeginStep());
//     ROWAN_RETURN_IF_ERROR(step.Pull({{ads, keys, rows}}, {{tower, weights}}).Wait());
//     ... gradients: sums over the batch's samples ...
//     ROWAN_RETURN_IF_ERROR(step.Push({{ads, keys, gradients}}, {{tower, tower_gradient}}, /*weight=*/samples).Wait());
//   }
//   ROWAN_RETURN_IF_ERROR(client->Finish());
//
// Errors say what to do: Unavailable: call again. Aborted: redo the step. Anything else: repair first.
//
// One thread at a time may use steps (BeginStep, Step, Finish). All other methods are thread-safe, beside the steps
// too. Neither a Step nor a Pending may outlive its client.
#ifndef ROWAN_WORKER_CLIENT_H_
#define ROWAN_WORKER_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/control_plane.h"
#include "common/data_plane.h"
#include "common/thread_pool.h"
#include "proto/table.pb.h"
#include "worker/client/pending.h"

namespace rowan {

// A table as it exists. Cheap to copy.
class Table {
 public:
  Table() = default;
  explicit Table(OpenedTable opened);

  bool is_open() const { return opened_ != nullptr; }  // false: the default one; use nothing else of it
  uint32_t id() const { return opened_->id; }
  const proto::TableSpec& spec() const { return opened_->spec; }
  int64_t width() const { return width_; }  // floats of one row: all slices

 private:
  std::shared_ptr<const OpenedTable> opened_;
  int64_t width_ = 0;
};

// A dense parameter as it exists. Cheap to copy.
class Dense {
 public:
  Dense() = default;
  explicit Dense(OpenedDense opened) : opened_(std::make_shared<const OpenedDense>(std::move(opened))) {}

  bool is_open() const { return opened_ != nullptr; }  // false: the default one; use nothing else of it
  uint32_t id() const { return opened_->id; }
  const proto::DenseSpec& spec() const { return opened_->spec; }
  int64_t size() const { return static_cast<int64_t>(opened_->spec.size()); }  // floats

 private:
  std::shared_ptr<const OpenedDense> opened_;
};

struct RowsPull {
  Table table;
  absl::Span<const uint64_t> keys;    // (n): unique is cheaper, duplicates are legal
  absl::Span<float> rows;             // (n, width)
  absl::Span<Outcome> outcomes = {};  // (n), or empty
};

struct DenseWhole {
  Dense dense;
  absl::Span<float> values;  // (size)
};

struct RowsPush {
  Table table;
  absl::Span<const uint64_t> keys;              // (n): a key that comes twice means the sum of both
  absl::Span<const float> gradients;            // (n, width): sums over the samples that used the key
  absl::Span<const uint32_t> occurrences = {};  // (n): how many samples used the key, or empty: 1 each
};

struct DensePush {
  Dense dense;
  absl::Span<const float> gradient;  // (size): sum over the samples
};

class Client;

// One training step. Movable; must not outlive its client.
class Step {
 public:
  uint64_t number() const { return number_; }

  // Rows and dense parameters as the job's mode lets this step see them. The spans must stay until the result is in.
  // The call waits for no other rank; in a job of this process the calling thread itself reads the rows, when they may
  // be read. InvalidArgument for sizes that do not fit and for tables that were never opened.
  Pending Pull(std::vector<RowsPull> tables, std::vector<DenseWhole> dense);
  // The step's one push: gradient sums and the sum of the samples' weights. The arrays are copied. In a job of this
  // process the calling thread applies what can be applied: in sync mode the whole step, if its push is the last one. A
  // step without samples pushes nothing with weight 0, so that nobody waits for it. FailedPrecondition for a second
  // push; one that was refused may be repeated as it was. A dense parameter is refused, for this step and all ranks, if
  // its gradient is not finite (or 2^100 and more) somewhere; a row by itself. In sync mode a step that was not pulled
  // pulls nothing first, and waits for that.
  Pending Push(const std::vector<RowsPush>& tables, const std::vector<DensePush>& dense, double weight);

 private:
  friend class Client;
  Step(Client* client, uint64_t number) : client_(client), number_(number) {}

  Client* client_;
  uint64_t number_;
};

class Client {
 public:
  struct Options {
    // The cluster's coordinator, HOST:PORT: the client connects to it and to the servers that it names, and waits
    // `patience` for those that are not there yet.
    std::string coordinators;
    absl::Duration patience = absl::Seconds(60);
    bool unix_sockets = true;  // to servers on this host that have one; false: TCP

    // Or, without `coordinators`, a job in this process: its coordinator and its servers, in the order of the shard map
    // that the coordinator gives. They outlive the client, and answer every call they are given.
    ControlPlane* coordinator = nullptr;
    std::vector<DataPlane*> servers;

    bool takes_part = true;   // false: a tool outside steps, that takes no rank
    uint64_t first_step = 0;  // of a job that goes on from a snapshot: how many steps that has
    // How long one call may wait, for slower ranks too, before it fails with DeadlineExceeded and says for whom.
    absl::Duration deadline = absl::Minutes(10);
    // Told about once a second what a call waits for. Must return at once. Null: the log, every tenth time.
    std::function<void(const std::string&)> on_waiting;
    // Splits large requests; outlives the client. Null: the calling thread does all.
    ThreadPool* pool = nullptr;
  };

  // FailedPrecondition when the job has no rank left, or goes on with another step than `first_step`. InvalidArgument
  // when the shard map has another number of servers.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const Options& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  uint32_t rank() const;
  const proto::JobSpec& job() const;

  // Creates the table or finds it. FailedPrecondition if it exists with another identity (see proto/table.proto). One
  // that exists keeps its rates: those of `spec` are not looked at, and what is returned says which they are.
  absl::StatusOr<Table> OpenTable(const proto::TableSpec& spec);
  absl::StatusOr<Dense> OpenDense(const proto::DenseSpec& spec);

  // The next step. The error with which the job ended elsewhere, if it did. FailedPrecondition in a tool, after Finish
  // and, in sync mode, when the step before was not pushed.
  absl::StatusOr<Step> BeginStep();
  // Says that this worker has no more steps, and returns when all it pushed is applied as the mode says. May be
  // repeated after an error. FailedPrecondition when a step was begun and not pushed, and in a tool.
  absl::Status Finish();

  // In a cluster: why the job ended elsewhere; OK while it goes on, and in a job of this process.
  absl::Status failure() const;
  // In a cluster: tells the others that this worker has failed, so that nobody waits for it. The first report counts,
  // Finish is one; a client that is destroyed without either has failed for no stated reason.
  void ReportFailure(const absl::Status& why);

  // Reads outside steps: whatever is there now. Changes nothing, and never fails on unknown keys.
  absl::Status Lookup(const std::vector<RowsPull>& tables, const std::vector<DenseWhole>& dense = {});
  // Pushes outside steps, gradients taken as they are (weight 0), exactly once. At most 64 at a time: more threads wait
  // for their turn. FailedPrecondition in a sync job and in a worker.
  absl::Status PushBare(const std::vector<RowsPush>& tables, const std::vector<DensePush>& dense = {});

 private:
  friend class Step;
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace rowan

#endif  // ROWAN_WORKER_CLIENT_H_
