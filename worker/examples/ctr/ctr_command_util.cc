#include "worker/examples/ctr/ctr_command_util.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/flags.h"
#include "common/output_file.h"
#include "common/snapshot/manifest.h"
#include "common/status_macros.h"
#include "google/protobuf/text_format.h"
#include "rocksdb/env.h"
#include "worker/nn/gemm.h"

namespace rowan {
namespace {

constexpr char kModelEntry[] = "ctr_model";  // CtrModelSpec as protobuf text
constexpr char kSoftwareEntry[] = "software_version";

absl::Status Refused(const std::string& flag, const std::string& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", path, ": ", why));
}

}  // namespace

int ExitCode(const std::string& command, const absl::Status& status, bool started, const Interrupt& interrupt) {
  if (status.ok()) return 0;
  if (absl::IsCancelled(status) && interrupt.requested()) {
    std::fprintf(stderr, "rowan-ctr %s: interrupted\n", command.c_str());
    return 128 + interrupt.signal();
  }
  std::fprintf(stderr, "rowan-ctr %s: %s\n", command.c_str(), std::string(status.message()).c_str());
  if (started) return 1;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kDataLoss:
      return 2;
    default:
      return 1;
  }
}

absl::Status CheckWritable(const std::string& flag, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  const absl::Status status = OutputFile::Check(path);
  return status.ok() ? status : absl::InvalidArgumentError(absl::StrCat("--", flag, "=", status.message()));
}

absl::Status CheckSnapshotRoot(const std::string& flag, const std::string& path) {
  struct stat info;
  if (path.empty()) return absl::OkStatus();
  if (stat(path.c_str(), &info) != 0) {
    const size_t end = path.find_last_not_of('/');
    return CheckWritable(flag, path.substr(0, end == std::string::npos ? end : end + 1));
  }
  if (!S_ISDIR(info.st_mode)) return Refused(flag, path, "must be a directory");
  if (access(path.c_str(), W_OK | X_OK) != 0) {
    return Refused(flag, path, absl::StrCat("cannot write into it: ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

absl::Status MakeSnapshotRoot(const std::string& flag, const std::string& path) {
  if (path.empty() || mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return absl::OkStatus();
  return Refused(flag, path, absl::StrCat("cannot make it: ", std::strerror(errno)));
}

std::string MetricText(absl::optional<double> value) {
  return value.has_value() ? absl::StrFormat("%.17g", *value) : "undefined";
}

std::map<std::string, std::string> ModelApplication(const proto::CtrModelSpec& spec) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(spec, &text);
  return {{kModelEntry, text}, {kSoftwareEntry, kVersion}};
}

absl::StatusOr<StoredModel> OpenStoredModel(const std::string& model_dir, int threads) {
  auto opened = SnapshotReader::Open(rocksdb::Env::Default(), model_dir);
  if (!opened.ok()) {
    return absl::Status(opened.status().code(), absl::StrCat("--model_dir: ", opened.status().message()));
  }
  const std::unique_ptr<SnapshotReader> snapshot = *std::move(opened);
  for (const std::string& skipped : snapshot->skipped()) {
    std::fprintf(stderr, "%s: passed over for want of a manifest; the model is %s\n", skipped.c_str(),
                 snapshot->directory().c_str());
  }
  const std::string* const text = FindApplicationEntry(snapshot->manifest(), kModelEntry);
  proto::CtrModelSpec spec;
  if (text == nullptr || !google::protobuf::TextFormat::ParseFromString(*text, &spec)) {
    return absl::InvalidArgumentError(absl::StrCat(snapshot->directory(), ": its application section has no readable '",
                                                   kModelEntry, "': not a snapshot of rowan-ctr"));
  }
  ROWAN_RETURN_IF_ERROR(CheckCtrModelSpec(spec));
  StoredModel stored;
  stored.snapshot = snapshot->directory();
  UseOneThreadPerProduct();
  stored.pool = std::make_unique<ThreadPool>(threads, UseOneThreadPerProduct);
  proto::JobSpec job;
  job.set_mode(proto::JobSpec::ASYNC);
  job.set_num_ranks(1);
  ROWAN_ASSIGN_OR_RETURN(stored.job, LocalJob::Restore(job, threads, snapshot.get()));
  Client::Options options;
  options.coordinator = stored.job->coordinator();
  options.servers = stored.job->data_planes();
  options.takes_part = false;
  options.pool = stored.pool.get();
  ROWAN_ASSIGN_OR_RETURN(stored.client, Client::Connect(options));
  stored.model = std::make_unique<CtrModel>(spec, stored.pool.get());
  ROWAN_RETURN_IF_ERROR(stored.model->Open(CtrRates(), stored.client.get()));
  return stored;
}

}  // namespace rowan
