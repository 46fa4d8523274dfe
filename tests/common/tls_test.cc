#include "common/tls.h"

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/test_certificates.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::rowan::testing::TestCertificates;
using ::testing::HasSubstr;

TEST(TlsTest, FilesAreReadWhole) {
  const TestCertificates files;
  const auto pems = ReadServerTls({files.ca(), files.server().certificate, files.server().key});
  ASSERT_OK(pems);
  std::ifstream ca(files.ca());
  EXPECT_EQ(pems->ca, std::string(std::istreambuf_iterator<char>(ca), {}));
  EXPECT_THAT(pems->key, HasSubstr("PRIVATE KEY"));
  EXPECT_OK(ReadServerTls({"", files.server().certificate, files.server().key}));
  EXPECT_OK(ReadClientTls({files.ca()}));
}

TEST(TlsTest, WhatIsMissingIsNamed) {
  const TestCertificates files;
  EXPECT_THAT(ReadServerTls({files.ca()}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs a certificate and a key")));
  EXPECT_THAT(ReadServerTls({"", files.server().certificate}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("server.pem has no key")));
  EXPECT_THAT(ReadClientTls({files.ca(), "", files.client().key}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("client.key has no certificate")));
  EXPECT_THAT(ReadClientTls({"", files.client().certificate, files.client().key}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs the CA")));
  EXPECT_THAT(ReadClientTls({"/no/ca.pem"}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/ca.pem")));
  EXPECT_THAT(ReadClientTls({"/"}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("Is a directory")));
}

TEST(TlsTest, WhatDoesNotFitIsNamed) {
  const TestCertificates files;
  EXPECT_THAT(ReadServerTls({"", files.server().certificate, files.client().key}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("client.key is not that of the certificate")));
  EXPECT_THAT(ReadServerTls({"", files.server().key, files.server().key}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("server.key: no PEM certificate")));
  EXPECT_THAT(ReadServerTls({"", files.server().certificate, files.server().certificate}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("server.pem: no PEM private key")));
  EXPECT_THAT(ReadClientTls({"/dev/null"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/dev/null: no PEM certificate")));
}

}  // namespace
}  // namespace rowan
