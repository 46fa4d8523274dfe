// TestCertificates: two CAs and certificates for localhost and 127.0.0.1, made anew in the test's own folder.
#ifndef ROWAN_TESTS_COMMON_TEST_CERTIFICATES_H_
#define ROWAN_TESTS_COMMON_TEST_CERTIFICATES_H_

#include <stdlib.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace rowan::testing {

// Needs Debian's openssl. A failure to make the files fails the test.
class TestCertificates {
 public:
  struct Identity {
    std::string certificate;  // Path.
    std::string key;          // Path.
  };

  TestCertificates() {
    MakeCa("ca");
    MakeCa("other_ca");
    MakeIdentity("server", "ca");
    MakeIdentity("client", "ca");
    MakeIdentity("stranger", "other_ca");
  }

  std::string ca() const { return Path("ca.pem"); }
  std::string other_ca() const { return Path("other_ca.pem"); }
  Identity server() const { return IdentityOf("server"); }
  Identity client() const { return IdentityOf("client"); }
  Identity stranger() const { return IdentityOf("stranger"); }  // Signed by other_ca.

 private:
  static std::string Path(const std::string& name) { return absl::StrCat(::testing::TempDir(), "/", name); }
  static Identity IdentityOf(const std::string& name) { return {Path(name + ".pem"), Path(name + ".key")}; }

  static void Run(const std::string& command) { EXPECT_EQ(system((command + " 2>/dev/null").c_str()), 0) << command; }

  static std::string Request(const std::string& name) {
    return absl::StrCat("openssl req -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=", name,
                        " -keyout ", Path(name + ".key"));
  }
  static void MakeCa(const std::string& name) {
    Run(absl::StrCat(Request(name), " -x509 -days 2 -out ", Path(name + ".pem")));
  }
  static void MakeIdentity(const std::string& name, const std::string& ca) {
    Run(absl::StrCat("printf 'subjectAltName=DNS:localhost,IP:127.0.0.1' >", Path(name + ".ext")));
    Run(absl::StrCat(Request(name), " -out ", Path(name + ".csr")));
    Run(absl::StrCat("openssl x509 -req -days 2 -CAcreateserial -in ", Path(name + ".csr"), " -CA ", Path(ca + ".pem"),
                     " -CAkey ", Path(ca + ".key"), " -extfile ", Path(name + ".ext"), " -out ", Path(name + ".pem")));
  }
};

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_COMMON_TEST_CERTIFICATES_H_
