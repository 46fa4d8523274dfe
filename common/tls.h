// TLS by PEM files, read and checked before anything starts: a damaged file, or a key that is not the certificate's,
// would else only show as a failed handshake.
#ifndef ROWAN_COMMON_TLS_H_
#define ROWAN_COMMON_TLS_H_

#include <string>

#include "absl/status/statusor.h"

namespace rowan {

// Paths; all empty means no TLS.
struct TlsFiles {
  std::string ca = {};           // Who signs the peers' certificates.
  std::string certificate = {};  // Our own, with what leads from it to the CA.
  std::string key = {};          // Its private key, without a pass phrase.

  bool enabled() const { return !ca.empty() || !certificate.empty() || !key.empty(); }
};

// The files' contents, empty where no file is named.
struct TlsPems {
  std::string ca;
  std::string certificate;
  std::string key;
};

// Reads `files`. A server needs a certificate with its key, and demands certificates of its clients if a CA is named
// too (mutual TLS); a client needs a CA, and shows a certificate if one is named.
// Returns NotFound for a file that cannot be read and InvalidArgument for one that is missing, is not PEM or does not
// match; the message names the file. REQUIRES: files.enabled().
absl::StatusOr<TlsPems> ReadServerTls(const TlsFiles& files);
absl::StatusOr<TlsPems> ReadClientTls(const TlsFiles& files);

}  // namespace rowan

#endif  // ROWAN_COMMON_TLS_H_
