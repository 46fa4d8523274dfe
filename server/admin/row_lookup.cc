#include "server/admin/row_lookup.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/channel.h"
#include "common/coordinator_call.h"
#include "common/data_plane.h"
#include "common/grpc_status.h"
#include "common/status_macros.h"
#include "proto/data_plane.grpc.pb.h"

namespace rowan {
namespace {

std::string OutcomeText(const std::string& outcomes) {
  switch (outcomes.empty() ? Outcome::kFound : static_cast<Outcome>(outcomes[0])) {
    case Outcome::kFound:
      return "found";
    case Outcome::kAbsent:
      return "absent";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kSpilled:
      return "spilled";
  }
  return absl::StrCat("outcome ", static_cast<int>(outcomes[0]));
}

}  // namespace

absl::StatusOr<FoundRow> LookUpRow(const proto::RegisterClientReply& tool, uint32_t server, uint32_t table,
                                   uint64_t key, absl::Duration timeout) {
  if (server >= static_cast<uint32_t>(tool.map().servers_size())) {
    return absl::InternalError(absl::StrCat("the shard map has no server ", server));
  }
  const std::string address = tool.map().servers(server).tcp();
  ROWAN_ASSIGN_OR_RETURN(const auto channel, MakeChannel(address));
  proto::DataRequest request;
  request.set_id(1);
  request.mutable_header()->set_generation(tool.generation());
  request.mutable_header()->set_rank(tool.rank());
  request.mutable_header()->set_incarnation(tool.incarnation());
  request.mutable_header()->set_map_version(tool.map().version());
  proto::TableKeys* const keys = request.mutable_lookup()->add_tables();
  keys->set_table(table);
  keys->set_want_outcomes(true);
  keys->set_keys(&key, sizeof(key));

  grpc::ClientContext context;
  SetDeadline(&context, timeout);
  const auto stream = proto::DataPlane::NewStub(channel)->Exchange(&context);
  stream->Write(request);
  proto::DataReply reply;
  const bool answered = stream->Read(&reply);
  stream->WritesDone();
  if (!answered) {
    const absl::Status status = FromGrpcStatus(stream->Finish());
    return absl::UnavailableError(
        absl::StrCat("server ", server, " at ", address, " does not answer: ", status.message()));
  }
  context.TryCancel();
  stream->Finish();
  if (reply.status().code() != 0) {
    return absl::Status(static_cast<absl::StatusCode>(reply.status().code()), reply.status().message());
  }
  if (reply.pull().tables_size() != 1) {
    return absl::InternalError(absl::StrCat("server ", server, " at ", address, " answered something else"));
  }
  FoundRow row;
  const proto::TableRows& rows = reply.pull().tables(0);
  row.outcome = OutcomeText(rows.outcomes());
  row.values.resize(rows.rows().size() / sizeof(float));
  if (!row.values.empty()) memcpy(row.values.data(), rows.rows().data(), row.values.size() * sizeof(float));
  return row;
}

}  // namespace rowan
