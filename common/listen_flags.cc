#include "common/listen_flags.h"

#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "common/address.h"
#include "common/flag_rules.h"
#include "common/output_file.h"
#include "common/status_macros.h"

namespace rowan {

bool IsTcpAddress(const std::string& text) {
  const auto address = ParseAddress(text);
  return address.ok() && !address->is_unix();
}

}  // namespace rowan

ABSL_FLAG(std::string, listen, "127.0.0.1:0", "Where to listen; port 0: one that the system chooses.");
ROWAN_FLAG_CHECK(listen, "HOST:PORT or [IPv6]:PORT", rowan::IsTcpAddress);
ABSL_FLAG(std::string, advertise, "",
          "The address that others are told, if it is not the one of --listen; port 0: the port of --listen.");
ROWAN_FLAG_CHECK(advertise, "HOST:PORT or [IPv6]:PORT",
                 [](const std::string& text) { return text.empty() || rowan::IsTcpAddress(text); });
ABSL_FLAG(std::string, port_file, "", "File to write the port to, once it is known; empty: none.");

namespace rowan {

FlagGroup ListenFlags() { return {"Network", {"listen", "advertise", "port_file"}}; }

std::string ListenAddress() { return absl::GetFlag(FLAGS_listen); }

absl::StatusOr<std::string> AdvertisedAddress(absl::string_view bound) {
  ROWAN_ASSIGN_OR_RETURN(const Address own, ParseAddress(bound));
  const std::string flag = absl::GetFlag(FLAGS_advertise);
  Address told = own;
  if (!flag.empty()) {
    ROWAN_ASSIGN_OR_RETURN(told, ParseAddress(flag));
    if (told.port == 0) told.port = own.port;
  }
  if (told.host == "0.0.0.0" || told.host == "::") {
    return absl::InvalidArgumentError(
        absl::StrCat("--advertise=", flag, ": must name this host, as others reach it, when it listens on ", bound));
  }
  return told.ToString();
}

absl::Status AnnouncePort(absl::string_view program, absl::string_view bound) {
  ROWAN_ASSIGN_OR_RETURN(const Address own, ParseAddress(bound));
  printf("%s listens on %s\n", std::string(program).c_str(), own.ToString().c_str());
  fflush(stdout);
  const std::string path = absl::GetFlag(FLAGS_port_file);
  if (path.empty()) return absl::OkStatus();
  ROWAN_ASSIGN_OR_RETURN(const auto file, OutputFile::Create(path));
  ROWAN_RETURN_IF_ERROR(file->Write(absl::StrCat(own.port, "\n")));
  return file->Finish();
}

}  // namespace rowan
