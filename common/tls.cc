#include "common/tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include <cstdio>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace rowan {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(FILE* file) const { std::fclose(file); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const Owned<FILE> file(std::fopen(path.c_str(), "rb"));
  std::string text;
  char buffer[4096];
  if (file != nullptr) {
    while (const size_t n = std::fread(buffer, 1, sizeof(buffer), file.get())) text.append(buffer, n);
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    return absl::NotFoundError(absl::StrCat("TLS file ", path, ": cannot be read: ", strerror(errno)));
  }
  return text;
}

Owned<BIO> Memory(const std::string& text) {
  return Owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// The first certificate of `text`.
absl::StatusOr<Owned<X509>> ParseCertificate(const std::string& path, const std::string& text) {
  Owned<X509> certificate(PEM_read_bio_X509(Memory(text).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (certificate == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("TLS file ", path, ": no PEM certificate"));
  return certificate;
}

// Answers OpenSSL's question for a pass phrase, which it would else put to the terminal.
int NoPassPhrase(char*, int, int, void*) { return -1; }

absl::Status ReadCa(const TlsFiles& files, TlsPems* pems) {
  ROWAN_ASSIGN_OR_RETURN(pems->ca, ReadFile(files.ca));
  return ParseCertificate(files.ca, pems->ca).status();
}

absl::Status ReadIdentity(const TlsFiles& files, TlsPems* pems) {
  if (files.certificate.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("TLS key ", files.key, " has no certificate beside it"));
  }
  if (files.key.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("TLS certificate ", files.certificate, " has no key beside it"));
  }
  ROWAN_ASSIGN_OR_RETURN(pems->certificate, ReadFile(files.certificate));
  ROWAN_ASSIGN_OR_RETURN(const Owned<X509> certificate, ParseCertificate(files.certificate, pems->certificate));
  ROWAN_ASSIGN_OR_RETURN(pems->key, ReadFile(files.key));
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(Memory(pems->key).get(), nullptr, NoPassPhrase, nullptr));
  const bool match = key != nullptr && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (key == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("TLS file ", files.key, ": no PEM private key without pass phrase"));
  }
  if (!match) {
    return absl::InvalidArgumentError(
        absl::StrCat("TLS key ", files.key, " is not that of the certificate ", files.certificate));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TlsPems> ReadServerTls(const TlsFiles& files) {
  TlsPems pems;
  if (files.certificate.empty() && files.key.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("TLS CA ", files.ca, ": a server needs a certificate and a key too"));
  }
  ROWAN_RETURN_IF_ERROR(ReadIdentity(files, &pems));
  if (!files.ca.empty()) ROWAN_RETURN_IF_ERROR(ReadCa(files, &pems));
  return pems;
}

absl::StatusOr<TlsPems> ReadClientTls(const TlsFiles& files) {
  TlsPems pems;
  if (files.ca.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("TLS certificate ", files.certificate, ": a client needs the CA of its servers too"));
  }
  ROWAN_RETURN_IF_ERROR(ReadCa(files, &pems));
  if (!files.certificate.empty() || !files.key.empty()) ROWAN_RETURN_IF_ERROR(ReadIdentity(files, &pems));
  return pems;
}

}  // namespace rowan
