// rowanctl: looks into a cluster, and ends its job.
//
// Exit codes: 0 done; 1 the cluster refused, or an error inside it; 2 wrong flags or arguments; 3 somebody who is
// needed does not answer; 4 there is no such table.
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "common/flag_rules.h"
#include "common/flags.h"
#include "common/key.h"
#include "common/listen_flags.h"
#include "common/log.h"
#include "google/protobuf/util/json_util.h"
#include "server/admin/cluster_client.h"
#include "server/admin/render.h"

ABSL_FLAG(std::string, coordinator, "", "The coordinator of the cluster.");
ROWAN_FLAG_CHECK(coordinator, "HOST:PORT or [IPv6]:PORT", rowan::IsTcpAddress);
ABSL_FLAG(std::string, output, "table", "For people, or for scripts: proto/admin.proto's messages as JSON.");
ROWAN_FLAG_CHOICES(output, "table", "json");
ABSL_FLAG(absl::Duration, timeout, absl::Seconds(10), "Of each call.");
ROWAN_FLAG_RANGE(timeout, absl::Milliseconds(1), absl::Hours(24));
ABSL_FLAG(bool, digest, false, "Digests of the shards and of the model: takes a pass over all rows.");

namespace rowan {
namespace {

Program MakeProgram() {
  const FlagGroup cluster = {"Cluster", {"coordinator", "timeout"}};
  const FlagGroup output = {"Output", {"output"}};
  const std::vector<std::string> required = {"coordinator"};
  return {"rowanctl",
          "looks into a cluster, and ends its job",
          {{"status", "shows the job, its servers and its workers", {cluster, output, LogFlags()}, required},
           {"tables", "shows the tables and their sizes", {cluster, output, LogFlags()}, required},
           {"shards",
            "shows where each shard is and what it holds",
            {cluster, {"Output", {"output", "digest"}}, LogFlags()},
            required},
           {"row get",
            "shows a row; KEY is a number, 0xHEX, FEATURE=TEXT or FEATURE#NUMBER",
            {cluster, output, LogFlags()},
            required,
            "TABLE KEY",
            2,
            2},
           {"job stop", "ends the job: servers and coordinator exit", {cluster, LogFlags()}, required}}};
}

// The key that `text` means, see above.
bool ParseKey(absl::string_view text, uint64_t* key) {
  absl::string_view hex = text;
  if (absl::ConsumePrefix(&hex, "0x")) return absl::SimpleHexAtoi(hex, key);
  if (absl::SimpleAtoi(text, key)) return true;
  const size_t split = text.find_first_of("=#");
  if (split == text.npos) return false;
  const absl::string_view id = text.substr(split + 1);
  if (text[split] == '=') {
    *key = Key(text.substr(0, split), id);
    return true;
  }
  uint64_t number;
  if (!absl::SimpleAtoi(id, &number)) return false;
  *key = Key(text.substr(0, split), number);
  return true;
}

int Fail(const absl::Status& status) {
  fprintf(stderr, "rowanctl: %s\n", std::string(status.message()).c_str());
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) return 3;
  return absl::IsNotFound(status) ? 4 : 1;
}

template <typename Message>
int Print(const absl::StatusOr<Message>& result) {
  if (!result.ok()) return Fail(result.status());
  std::string text;
  if (absl::GetFlag(FLAGS_output) == "table") {
    text = Render(*result);
  } else {
    google::protobuf::util::JsonPrintOptions options;
    options.add_whitespace = true;
    options.always_print_primitive_fields = true;
    options.preserve_proto_field_names = true;
    const auto printed = google::protobuf::util::MessageToJsonString(*result, &text, options);
    if (!printed.ok()) return Fail(absl::InternalError(std::string(printed.message())));
  }
  fwrite(text.data(), 1, text.size(), stdout);
  if (fflush(stdout) != 0) return Fail(absl::InternalError("cannot write to stdout"));
  return 0;
}

int Run(const Program& program, const CommandLine& line) {
  uint64_t key = 0;
  if (line.command == "row get" && !ParseKey(line.arguments[1], &key)) {
    return UsageError(program, line,
                      absl::StrCat("KEY ", line.arguments[1],
                                   ": must be a number below 2^64, 0xHEX, FEATURE=TEXT or FEATURE#NUMBER"));
  }
  const auto client = ClusterClient::Create(absl::GetFlag(FLAGS_coordinator), absl::GetFlag(FLAGS_timeout));
  if (!client.ok()) return Fail(client.status());
  if (line.command == "status") {
    auto status = (*client)->Status();
    if (status.ok()) status->mutable_map()->clear_server_of_shard();
    return Print(status);
  }
  if (line.command == "tables") return Print((*client)->Tables());
  if (line.command == "shards") return Print((*client)->Shards(absl::GetFlag(FLAGS_digest)));
  if (line.command == "row get") return Print((*client)->Row(line.arguments[0], key));
  const absl::Status stopped = (*client)->StopJob();
  return stopped.ok() ? 0 : Fail(stopped);
}

}  // namespace
}  // namespace rowan

int main(int argc, char** argv) {
  const rowan::Program program = rowan::MakeProgram();
  const rowan::CommandLine line = rowan::ParseFlagsOrExit(program, argc, argv);
  if (const absl::Status status = rowan::InitLogging(program.name); !status.ok()) {
    return rowan::UsageError(program, line, status.message());
  }
  return rowan::Run(program, line);
}
