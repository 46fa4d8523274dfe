#include "worker/client.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/placement.h"
#include "common/status_macros.h"
#include "glog/logging.h"
#include "worker/client/push_builder.h"

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

// Servers remember this many pushes of a rank below its newest (P8).
constexpr uint64_t kMaxPushesInFlight = 64;

// A request and what its answer needs, alive until the answer.
struct PullInFlight {
  PullRequest request;
  std::atomic<int64_t> told{0};
};

}  // namespace

Table::Table(OpenedTable opened)
    : opened_(std::make_shared<const OpenedTable>(std::move(opened))), width_(WidthOf(opened_->spec)) {}

struct Client::Impl {
  Impl(const Options& o, const Registration& r)
      : options(o), registration(r), next_step(o.first_step), builder(Placement(r.job.num_shards()), o.pool) {}

  RequestHeader Header(uint64_t number) const {
    return {registration.generation, registration.rank, registration.incarnation, number, registration.map.version};
  }
  absl::StatusOr<PullRequest> MakePull(const std::vector<RowsPull>& tables, const std::vector<DenseWhole>& dense) const;
  absl::StatusOr<PushRequest> MakePush(const std::vector<RowsPush>& tables, const std::vector<DensePush>& dense)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(builder_mu);
  Pending SendPull(PullRequest request);
  Pending SendPush(PushRequest request);
  // Waits until the next number lies within the servers' windows.
  uint64_t TakeBareNumber() ABSL_LOCKS_EXCLUDED(bare_mu);
  void GiveBareNumberBack(uint64_t number) ABSL_LOCKS_EXCLUDED(bare_mu);

  const Options options;
  const Registration registration;
  // Steps: one thread.
  uint64_t next_step;
  uint64_t pulled = 0;  // the pull of the step below this one was sent
  bool finished = false;
  std::atomic<uint64_t> pushed{0};        // pushes of all steps below this one were sent and not refused
  std::atomic<uint64_t> acknowledged{0};  // pushes of all steps below this one are acknowledged by the server
  // Bare pushes: many threads.
  Mutex bare_mu;
  CondVar bare_changed;
  uint64_t next_bare ABSL_GUARDED_BY(bare_mu) = 0;
  std::set<uint64_t> bare_in_flight ABSL_GUARDED_BY(bare_mu);
  Mutex builder_mu;
  PushBuilder builder ABSL_GUARDED_BY(builder_mu);
};

absl::StatusOr<PullRequest> Client::Impl::MakePull(const std::vector<RowsPull>& tables,
                                                   const std::vector<DenseWhole>& dense) const {
  PullRequest request;
  for (const RowsPull& t : tables) {
    if (!t.table.is_open()) return NeverOpened("pull from a table");
    const int64_t expected = static_cast<int64_t>(t.keys.size()) * t.table.width();
    if (static_cast<int64_t>(t.rows.size()) != expected) {
      return SizeError("pull from table", t.table.spec().name(), t.rows.size(), expected);
    }
    request.tables.push_back({t.table.id(), t.keys, t.rows, t.outcomes});
  }
  for (const DenseWhole& d : dense) {
    if (!d.dense.is_open()) return NeverOpened("pull of a dense parameter");
    const int64_t size = d.dense.size();
    if (static_cast<int64_t>(d.values.size()) != size) {
      return SizeError("pull of dense parameter", d.dense.spec().name(), d.values.size(), size);
    }
    for (int64_t block = 0; block < DenseBlocks(size); ++block) {
      request.dense.push_back({d.dense.id(), static_cast<uint64_t>(block),
                               d.values.subspan(block * kDenseBlockFloats, DenseBlockSize(size, block))});
    }
  }
  return request;
}

absl::StatusOr<PushRequest> Client::Impl::MakePush(const std::vector<RowsPush>& tables,
                                                   const std::vector<DensePush>& dense) {
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
  return builder.Build(rows, parameters);
}

Pending Client::Impl::SendPull(PullRequest pull) {
  auto in_flight = std::make_shared<PullInFlight>();
  in_flight->request = std::move(pull);
  auto state = std::make_shared<Pending::State>();
  DataPlane* const server = options.server;
  const auto waiting = [this, in_flight = in_flight.get()](const std::string& what) {
    const int64_t told = ++in_flight->told;
    if (options.on_waiting) {
      options.on_waiting(what);
    } else if (told % 10 == 0) {
      LOG(WARNING) << "rank " << registration.rank << ", step " << in_flight->request.header.number << ": " << what;
    }
  };
  server->Pull(&in_flight->request, waiting, [state, in_flight](absl::Status status) { state->Finish(status); });
  return Pending(state, options.deadline, [server, in_flight] { server->CancelPull(&in_flight->request); });
}

Pending Client::Impl::SendPush(PushRequest request) {
  auto state = std::make_shared<Pending::State>();
  const uint64_t step = request.header.number;
  const bool in_steps = request.header.rank < kFirstToolRank;
  options.server->Push(std::move(request), [this, state, step, in_steps](PushReply reply) {
    if (in_steps && reply.status.ok()) {
      acknowledged.store(step + 1);
    } else if (in_steps) {
      uint64_t after = step + 1;
      pushed.compare_exchange_strong(after, step);  // It may be pushed again, unless a later one was.
    }
    state->Finish(reply.status);
  });
  return Pending(state, options.deadline, nullptr);
}

uint64_t Client::Impl::TakeBareNumber() {
  MutexLock lock(&bare_mu);
  while (!bare_in_flight.empty() && next_bare - *bare_in_flight.begin() > kMaxPushesInFlight) {
    bare_changed.WaitWithTimeout(&bare_mu, absl::Seconds(10));
  }
  bare_in_flight.insert(next_bare);
  return next_bare++;
}

void Client::Impl::GiveBareNumberBack(uint64_t number) {
  MutexLock lock(&bare_mu);
  bare_in_flight.erase(number);
  bare_changed.SignalAll();
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const Options& options) {
  if (options.coordinator == nullptr || options.server == nullptr) {
    return absl::InvalidArgumentError("a client needs the coordinator and the server of a job");
  }
  ROWAN_ASSIGN_OR_RETURN(const Registration registration, options.takes_part ? options.coordinator->RegisterWorker()
                                                                             : options.coordinator->RegisterTool());
  auto impl = std::make_unique<Impl>(options, registration);
  impl->pushed = options.first_step;
  impl->acknowledged = options.first_step;
  HelloReply hello;
  ROWAN_RETURN_IF_ERROR(options.server->Hello(impl->Header(options.first_step), &hello));
  if (options.takes_part && hello.applied != options.first_step) {
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
  if (impl.registration.job.mode() == proto::JobSpec::SYNC && impl.pushed < impl.next_step) {
    return absl::FailedPreconditionError(absl::StrCat(
        "step ", impl.pushed.load(), " was not pushed: in sync mode it must be before the next one begins"));
  }
  return Step(this, impl.next_step++);
}

absl::Status Client::Finish() {
  Impl& impl = *impl_;
  if (!impl.options.takes_part) return absl::FailedPreconditionError("a tool takes no part in steps");
  if (impl.pushed < impl.next_step) {
    return absl::FailedPreconditionError(absl::StrCat("step ", impl.pushed.load(), " was begun and not pushed"));
  }
  impl.finished = true;
  PullRequest request;
  request.header = impl.Header(impl.next_step);
  request.committed = impl.acknowledged.load();
  request.last = true;
  return impl.SendPull(std::move(request)).Wait();
}

absl::Status Client::Lookup(const std::vector<RowsPull>& tables, const std::vector<DenseWhole>& dense) {
  Impl& impl = *impl_;
  ROWAN_ASSIGN_OR_RETURN(PullRequest request, impl.MakePull(tables, dense));
  request.header = impl.Header(0);
  const auto state = std::make_shared<Pending::State>();
  impl.options.server->Lookup(&request, [state](absl::Status status) { state->Finish(status); });
  return Pending(state, impl.options.deadline, nullptr).Wait();
}

absl::Status Client::PushBare(const std::vector<RowsPush>& tables, const std::vector<DensePush>& dense) {
  Impl& impl = *impl_;
  if (impl.registration.job.mode() == proto::JobSpec::SYNC) {
    return absl::FailedPreconditionError("a sync job takes pushes inside steps only");
  }
  if (impl.options.takes_part) {
    return absl::FailedPreconditionError("a worker pushes inside its steps; connect a tool for bare pushes");
  }
  PushRequest request;
  {
    MutexLock lock(&impl.builder_mu);
    ROWAN_ASSIGN_OR_RETURN(request, impl.MakePush(tables, dense));
  }
  const uint64_t number = impl.TakeBareNumber();
  request.header = impl.Header(number);
  const absl::Status status = impl.SendPush(std::move(request)).Wait();
  impl.GiveBareNumberBack(number);
  return status;
}

Pending Step::Pull(std::vector<RowsPull> tables, std::vector<DenseWhole> dense) {
  Client::Impl& impl = *client_->impl_;
  absl::StatusOr<PullRequest> request = impl.MakePull(tables, dense);
  if (!request.ok()) return Pending(request.status());
  request->header = impl.Header(number_);
  request->committed = impl.acknowledged.load();
  impl.pulled = std::max(impl.pulled, number_ + 1);
  return impl.SendPull(*std::move(request));
}

Pending Step::Push(const std::vector<RowsPush>& tables, const std::vector<DensePush>& dense, double weight) {
  Client::Impl& impl = *client_->impl_;
  if (number_ != impl.pushed) {
    return Pending(absl::FailedPreconditionError(absl::StrCat(
        number_ < impl.pushed.load() ? "step was pushed already: " : "an earlier step was not pushed yet: ", number_)));
  }
  PushRequest request;
  {
    MutexLock lock(&impl.builder_mu);
    absl::StatusOr<PushRequest> made = impl.MakePush(tables, dense);
    if (!made.ok()) return Pending(made.status());
    request = *std::move(made);
  }
  if (impl.registration.job.mode() == proto::JobSpec::SYNC && impl.pulled <= number_) {
    // The server learns with a pull that the step before is acknowledged everywhere.
    if (absl::Status pulled = Pull({}, {}).Wait(); !pulled.ok()) return Pending(pulled);
  }
  request.header = impl.Header(number_);
  request.weight = weight;
  ++impl.pushed;
  return impl.SendPush(std::move(request));
}

}  // namespace rowan
