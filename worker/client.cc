#include "worker/client.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/placement.h"
#include "common/status_macros.h"
#include "glog/logging.h"
#include "worker/client/bare_numbers.h"
#include "worker/client/cluster_connection.h"
#include "worker/client/fan_out.h"
#include "worker/client/push_builder.h"
#include "worker/client/router.h"
#include "worker/client/step_ledger.h"

namespace rowan {
namespace {

int64_t WidthOf(const proto::TableSpec& spec) {
  int64_t width = 0;
  for (const proto::Slice& slice : spec.slices()) width += slice.width();
  return width;
}

absl::Status SizeError(absl::string_view what, absl::string_view name, int64_t seen, int64_t expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " '", absl::CEscape(name), "': ", seen, " floats given, ", expected, " expected"));
}

absl::Status NeverOpened(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(what, " that was never opened"));
}

}  // namespace

Table::Table(OpenedTable opened)
    : opened_(std::make_shared<const OpenedTable>(std::move(opened))), width_(WidthOf(opened_->spec)) {}

struct Client::Impl {
  // `c` is null for a job in this process.
  Impl(const Options& o, const Registration& r, std::unique_ptr<ClusterConnection> c)
      : cluster(std::move(c)),
        options(o),
        registration(r),
        router(Placement(r.job.num_shards()), r.map),
        servers(o.servers, r.map, o.deadline),
        next_step(o.first_step),
        ledger(o.first_step),
        builder(Placement(r.job.num_shards()), o.pool) {}

  bool is_sync() const { return registration.job.mode() == proto::JobSpec::SYNC; }
  RequestHeader Header(uint64_t number) const {
    return {registration.generation, registration.rank, registration.incarnation, number, registration.map.version};
  }
  // The steps that every server acknowledged go with each pull.
  Pending SendPull(Router::Pulls pulls, uint64_t step, bool last);
  absl::StatusOr<Router::Pulls> MakePulls(const std::vector<RowsPull>& tables,
                                          const std::vector<DenseWhole>& dense) const;
  // One a server; headers are left to the caller.
  absl::StatusOr<std::vector<PushRequest>> MakePushes(const std::vector<RowsPush>& tables,
                                                      const std::vector<DensePush>& dense, double weight)
      ABSL_LOCKS_EXCLUDED(builder_mu);

  // How the job ended elsewhere; OK while it goes on.
  absl::Status Failure() const { return cluster == nullptr ? absl::OkStatus() : cluster->coordinator()->failure(); }

  const std::unique_ptr<ClusterConnection> cluster;
  const Options options;  // with coordinator and servers
  const Registration registration;
  const Router router;
  const FanOut servers;
  // Steps: one thread.
  uint64_t next_step;
  uint64_t pulled = 0;  // the pull of the step below this one was sent
  bool finished = false;
  double samples = 0;  // the weight pushed so far
  StepLedger ledger;
  // Bare pushes: many threads.
  BareNumbers bare_numbers;
  Mutex builder_mu;
  PushBuilder builder ABSL_GUARDED_BY(builder_mu);
};

absl::StatusOr<Router::Pulls> Client::Impl::MakePulls(const std::vector<RowsPull>& tables,
                                                      const std::vector<DenseWhole>& dense) const {
  std::vector<TablePull> pulls;
  for (const RowsPull& t : tables) {
    if (!t.table.is_open()) return NeverOpened("pull from a table");
    const int64_t expected = static_cast<int64_t>(t.keys.size()) * t.table.width();
    if (static_cast<int64_t>(t.rows.size()) != expected) {
      return SizeError("pull from table", t.table.spec().name(), t.rows.size(), expected);
    }
    if (!t.outcomes.empty() && t.outcomes.size() != t.keys.size()) {
      return absl::InvalidArgumentError(absl::StrCat("pull from table '", absl::CEscape(t.table.spec().name()), "': ",
                                                     t.keys.size(), " keys, ", t.outcomes.size(), " outcomes"));
    }
    pulls.push_back({t.table.id(), t.keys, t.rows, t.outcomes});
  }
  std::vector<Router::Dense> parameters;
  for (const DenseWhole& d : dense) {
    if (!d.dense.is_open()) return NeverOpened("pull of a dense parameter");
    if (static_cast<int64_t>(d.values.size()) != d.dense.size()) {
      return SizeError("pull of dense parameter", d.dense.spec().name(), d.values.size(), d.dense.size());
    }
    parameters.push_back({d.dense.id(), d.dense.spec().name(), d.values});
  }
  return router.Pull(std::move(pulls), parameters);
}

absl::StatusOr<std::vector<PushRequest>> Client::Impl::MakePushes(const std::vector<RowsPush>& tables,
                                                                  const std::vector<DensePush>& dense, double weight) {
  std::vector<PushBuilder::Rows> rows;
  std::vector<PushBuilder::Dense> parameters;
  for (const RowsPush& t : tables) {
    if (!t.table.is_open()) return NeverOpened("push to a table");
    const int64_t expected = static_cast<int64_t>(t.keys.size()) * t.table.width();
    if (static_cast<int64_t>(t.gradients.size()) != expected) {
      return SizeError("push to table", t.table.spec().name(), t.gradients.size(), expected);
    }
    if (!t.occurrences.empty() && t.occurrences.size() != t.keys.size()) {
      return absl::InvalidArgumentError(absl::StrCat("push to table '", absl::CEscape(t.table.spec().name()), "': ",
                                                     t.keys.size(), " keys, ", t.occurrences.size(), " occurrences"));
    }
    rows.push_back({t.table.id(), t.table.width(), t.keys, t.occurrences, t.gradients});
  }
  for (const DensePush& d : dense) {
    if (!d.dense.is_open()) return NeverOpened("push to a dense parameter");
    if (static_cast<int64_t>(d.gradient.size()) != d.dense.size()) {
      return SizeError("push to dense parameter", d.dense.spec().name(), d.gradient.size(), d.dense.size());
    }
    parameters.push_back({d.dense.id(), d.dense.spec().name(), d.gradient});
  }
  MutexLock lock(&builder_mu);
  return router.Push(builder.Build(rows, parameters, weight));
}

Pending Client::Impl::SendPull(Router::Pulls pulls, uint64_t step, bool last) {
  for (PullRequest& request : pulls.requests) {
    request.header = Header(step);
    request.committed = ledger.acknowledged();
    request.last = last;
  }
  const auto told = std::make_shared<std::atomic<int64_t>>(0);
  return servers.Pull(std::move(pulls), [this, step, told](const std::string& what) {
    if (options.on_waiting) {
      options.on_waiting(what);
    } else if (++*told % 10 == 0) {
      LOG(WARNING) << "rank " << registration.rank << ", step " << step << ": " << what;
    }
  });
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const Options& given) {
  Options options = given;
  std::unique_ptr<ClusterConnection> cluster;
  if (!options.coordinators.empty()) {
    if (options.coordinator != nullptr || !options.servers.empty()) {
      return absl::InvalidArgumentError("a client is given a coordinator's address, or a job in this process, not both");
    }
    ROWAN_ASSIGN_OR_RETURN(cluster, ClusterConnection::Create({options.coordinators, options.patience,
                                                               options.deadline, options.unix_sockets}));
    options.coordinator = cluster->coordinator();
  } else if (options.coordinator == nullptr || options.servers.empty()) {
    return absl::InvalidArgumentError("a client needs the coordinator and the servers of a job");
  }
  ROWAN_ASSIGN_OR_RETURN(const Registration registration, options.takes_part ? options.coordinator->RegisterWorker()
                                                                             : options.coordinator->RegisterTool());
  ROWAN_RETURN_IF_ERROR(CheckShardMap(registration.map, registration.job.num_shards()));
  if (cluster != nullptr) {
    ROWAN_ASSIGN_OR_RETURN(options.servers, cluster->ConnectServers(registration.map));
  }
  if (registration.map.servers.size() != options.servers.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the job has ", registration.map.servers.size(),
                                                   " servers, the client was given ", options.servers.size()));
  }
  auto impl = std::make_unique<Impl>(options, registration, std::move(cluster));
  std::vector<HelloReply> replies;
  ROWAN_RETURN_IF_ERROR(impl->servers.Hello(impl->Header(options.first_step), &replies));
  for (const HelloReply& hello : replies) {
    if (!options.takes_part || hello.applied == options.first_step) continue;
    return absl::FailedPreconditionError(absl::StrCat("the job goes on with step ", hello.applied,
                                                      ", the worker of rank ", registration.rank, " with step ",
                                                      options.first_step));
  }
  return absl::WrapUnique(new Client(std::move(impl)));
}

uint32_t Client::rank() const { return impl_->registration.rank; }
const proto::JobSpec& Client::job() const { return impl_->registration.job; }

absl::StatusOr<Table> Client::OpenTable(const proto::TableSpec& spec) {
  ROWAN_ASSIGN_OR_RETURN(OpenedTable opened, impl_->options.coordinator->OpenTable(spec));
  return Table(std::move(opened));
}

absl::StatusOr<Dense> Client::OpenDense(const proto::DenseSpec& spec) {
  ROWAN_ASSIGN_OR_RETURN(OpenedDense opened, impl_->options.coordinator->OpenDense(spec));
  return Dense(std::move(opened));
}

absl::StatusOr<Step> Client::BeginStep() {
  Impl& impl = *impl_;
  if (!impl.options.takes_part) return absl::FailedPreconditionError("a tool takes no part in steps");
  if (impl.finished) return absl::FailedPreconditionError("the worker has finished: no step can begin");
  ROWAN_RETURN_IF_ERROR(impl.Failure());
  if (const uint64_t pushed = impl.ledger.pushed(); impl.is_sync() && pushed < impl.next_step) {
    return absl::FailedPreconditionError(absl::StrCat(
        "step ", pushed, " was not pushed: in sync mode it must be before the next one begins"));
  }
  return Step(this, impl.next_step++);
}

absl::Status Client::Finish() {
  Impl& impl = *impl_;
  if (!impl.options.takes_part) return absl::FailedPreconditionError("a tool takes no part in steps");
  if (const uint64_t pushed = impl.ledger.pushed(); pushed < impl.next_step) {
    return absl::FailedPreconditionError(absl::StrCat("step ", pushed, " was begun and not pushed"));
  }
  impl.finished = true;
  ROWAN_RETURN_IF_ERROR(impl.SendPull(impl.router.Pull({}, {}), impl.next_step, /*last=*/true).Wait());
  return impl.cluster == nullptr ? absl::OkStatus() : impl.cluster->coordinator()->ReportFinished();
}

absl::Status Client::failure() const { return impl_->Failure(); }

void Client::ReportFailure(const absl::Status& why) {
  if (impl_->cluster == nullptr || !impl_->options.takes_part) return;
  // The coordinator may be what failed.
  impl_->cluster->coordinator()->ReportFailure(why).IgnoreError();
}

absl::Status Client::Lookup(const std::vector<RowsPull>& tables, const std::vector<DenseWhole>& dense) {
  Impl& impl = *impl_;
  ROWAN_ASSIGN_OR_RETURN(Router::Pulls pulls, impl.MakePulls(tables, dense));
  for (PullRequest& request : pulls.requests) request.header = impl.Header(0);
  return impl.servers.Lookup(std::move(pulls)).Wait();
}

absl::Status Client::PushBare(const std::vector<RowsPush>& tables, const std::vector<DensePush>& dense) {
  Impl& impl = *impl_;
  if (impl.is_sync()) {
    return absl::FailedPreconditionError("a sync job takes pushes inside steps only");
  }
  if (impl.options.takes_part) {
    return absl::FailedPreconditionError("a worker pushes inside its steps; connect a tool for bare pushes");
  }
  ROWAN_ASSIGN_OR_RETURN(std::vector<PushRequest> pushes, impl.MakePushes(tables, dense, /*weight=*/0));
  const uint64_t number = impl.bare_numbers.Take();
  for (PushRequest& push : pushes) push.header = impl.Header(number);
  const absl::Status status = impl.servers.PushBare(std::move(pushes)).Wait();
  impl.bare_numbers.GiveBack(number);
  return status;
}

Pending Step::Pull(std::vector<RowsPull> tables, std::vector<DenseWhole> dense) {
  Client::Impl& impl = *client_->impl_;
  absl::StatusOr<Router::Pulls> pulls = impl.MakePulls(tables, dense);
  if (!pulls.ok()) return Pending(pulls.status());
  impl.pulled = std::max(impl.pulled, number_ + 1);
  return impl.SendPull(*std::move(pulls), number_, /*last=*/false);
}

Pending Step::Push(const std::vector<RowsPush>& tables, const std::vector<DensePush>& dense, double weight) {
  Client::Impl& impl = *client_->impl_;
  if (const uint64_t pushed = impl.ledger.pushed(); number_ != pushed) {
    return Pending(absl::FailedPreconditionError(absl::StrCat(
        number_ < pushed ? "step was pushed already: " : "an earlier step was not pushed yet: ", number_)));
  }
  absl::StatusOr<std::vector<PushRequest>> pushes = impl.MakePushes(tables, dense, weight);
  if (!pushes.ok()) return Pending(pushes.status());
  if (impl.is_sync() && impl.pulled <= number_) {
    // The servers learn with a pull that the step before is acknowledged everywhere.
    if (absl::Status pulled = Pull({}, {}).Wait(); !pulled.ok()) return Pending(pulled);
  }
  for (PushRequest& push : *pushes) push.header = impl.Header(number_);
  impl.ledger.MarkSent(number_);
  if (impl.cluster != nullptr) {
    impl.samples += weight;
    proto::JobPosition position;
    position.set_step(number_ + 1);
    position.set_samples(static_cast<uint64_t>(impl.samples));
    impl.cluster->coordinator()->ReportProgress(position);
  }
  return impl.servers.Push(*std::move(pushes), [ledger = &impl.ledger, step = number_](const absl::Status& status) {
    ledger->MarkAnswered(step, status);
  });
}

}  // namespace rowan
