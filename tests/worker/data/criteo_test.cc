#include "worker/data/criteo.h"

#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/hash.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

constexpr auto kLabelled = CriteoLayout::kLabelled;
constexpr auto kUnlabelled = CriteoLayout::kUnlabelled;

// 1, 1 .. 13, c0000001 .. c000001a
std::vector<std::string> Fields() {
  std::vector<std::string> fields = {"1"};
  for (int i = 1; i <= 13; ++i) fields.push_back(absl::StrCat(i));
  for (int i = 1; i <= 26; ++i) fields.push_back(absl::StrCat("c", absl::Hex(i, absl::kZeroPad7)));
  return fields;
}

// Fields() with field `at` (0 label, 1..13 integers, 14..39 categoricals) replaced.
std::string With(int at, absl::string_view field) {
  std::vector<std::string> fields = Fields();
  fields[at] = std::string(field);
  return absl::StrJoin(fields, "\t");
}

// Parses a copy on a heap block of exactly its size, so that the address sanitizer sees a byte read too many.
absl::Status Parse(absl::string_view line, CriteoLayout layout = kLabelled) {
  const auto copy = std::make_unique<char[]>(line.size());
  std::copy(line.begin(), line.end(), copy.get());
  CriteoRow row;
  return ParseCriteo(absl::string_view(copy.get(), line.size()), layout, &row);
}

absl::Status ParseInteger(absl::string_view text, int64_t* value) {
  const std::string line = With(3, text);
  CriteoRow row;
  const absl::Status status = ParseCriteo(line, kLabelled, &row);
  *value = row.integers[2];
  return status;
}

TEST(CriteoTest, ReadsAllFields) {
  const std::string line = absl::StrJoin(Fields(), "\t");
  CriteoRow row;
  ASSERT_OK(ParseCriteo(line, kLabelled, &row));
  EXPECT_EQ(row.label, 1);
  EXPECT_EQ(row.missing, 0u);
  for (int i = 0; i < 13; ++i) EXPECT_EQ(row.integers[i], i + 1);
  for (int i = 0; i < 26; ++i) EXPECT_EQ(row.categoricals[i], Fields()[14 + i]);

  CriteoRow unlabelled;
  ASSERT_OK(ParseCriteo(absl::string_view(line).substr(2), kUnlabelled, &unlabelled));
  EXPECT_EQ(unlabelled.label, 0);
  for (int i = 0; i < 13; ++i) EXPECT_EQ(unlabelled.integers[i], i + 1);
  for (int i = 0; i < 26; ++i) EXPECT_EQ(unlabelled.categoricals[i], Fields()[14 + i]);
}

TEST(CriteoTest, ReadsEmptyFieldsAsMissing) {
  const std::string line(39, '\t');
  CriteoRow row;
  ASSERT_OK(ParseCriteo("0" + line, kLabelled, &row));
  EXPECT_EQ(row.label, 0);
  EXPECT_EQ(row.missing, 0x1fffu);
  for (const int64_t integer : row.integers) EXPECT_EQ(integer, 0);
  for (const absl::string_view categorical : row.categoricals) EXPECT_EQ(categorical, "");
  EXPECT_OK(Parse(line.substr(1), kUnlabelled));
}

TEST(CriteoTest, ReadsTrimmedFieldsAsEmpty) {
  for (int kept = 1; kept <= 40; ++kept) {
    std::vector<std::string> fields = Fields();
    fields.resize(kept);
    const std::string trimmed = absl::StrJoin(fields, "\t");
    fields.resize(40);
    const std::string full = absl::StrJoin(fields, "\t");
    CriteoRow a, b;
    ASSERT_OK(ParseCriteo(trimmed, kLabelled, &a)) << kept;
    ASSERT_OK(ParseCriteo(full, kLabelled, &b));
    EXPECT_EQ(a.missing, b.missing);
    EXPECT_TRUE(std::equal(a.integers, a.integers + 13, b.integers));
    EXPECT_TRUE(std::equal(a.categoricals, a.categoricals + 26, b.categoricals));
  }
  EXPECT_OK(Parse("1\t5\t"));
}

TEST(CriteoTest, RefusesTooManyFields) {
  const std::string line = absl::StrJoin(Fields(), "\t");
  EXPECT_THAT(Parse(line + "\t"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 40 fields")));
  EXPECT_THAT(Parse(line, kUnlabelled), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 39 fields")));
  EXPECT_THAT(Parse(std::string(5'000'000, '\t')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("40 fields")));
}

TEST(CriteoTest, RefusesLabelsOtherThanZeroAndOne) {
  for (const absl::string_view label : {"", "2", "-1", "01", "1.0", " 1", "x"}) {
    EXPECT_THAT(Parse(With(0, label)), StatusIs(absl::StatusCode::kInvalidArgument,
                                                HasSubstr(absl::StrCat("label: \"", label, "\" is neither 0 nor 1"))));
  }
  EXPECT_THAT(Parse(""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("label: \"\"")));
}

TEST(CriteoTest, ReadsEvery64BitInteger) {
  const std::pair<absl::string_view, int64_t> cases[] = {
      {"0", 0},
      {"-0", 0},
      {"+7", 7},
      {"-2", -2},
      {"12345678", 12345678},
      {"-12345678", -12345678},
      {"123456789", 123456789},
      {"007", 7},
      {"000000000000000000000000000000000000000042", 42},
      {"9223372036854775807", std::numeric_limits<int64_t>::max()},
      {"-9223372036854775808", std::numeric_limits<int64_t>::min()},
      {"9223372036854775799", 9223372036854775799},
  };
  for (const auto& [text, expected] : cases) {
    int64_t value;
    ASSERT_OK(ParseInteger(text, &value)) << text;
    EXPECT_EQ(value, expected) << text;
  }
  for (uint64_t i = 0; i < 20000; ++i) {
    const auto expected = static_cast<int64_t>(RandomBits(1, i)) >> (RandomBits(2, i) % 64);
    int64_t value;
    ASSERT_OK(ParseInteger(absl::StrCat(expected), &value)) << expected;
    EXPECT_EQ(value, expected);
  }
}

TEST(CriteoTest, RefusesIntegersOfMoreThan64Bits) {
  for (const absl::string_view text : {"9223372036854775808", "-9223372036854775809", "9223372036854775810",
                                       "18446744073709551617", "99999999999999999999999999"}) {
    int64_t value;
    EXPECT_THAT(ParseInteger(text, &value),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("I3: integer of more than 64 bits \"", text, "\""))));
  }
}

TEST(CriteoTest, RefusesWhatIsNoInteger) {
  for (const absl::string_view text : {"-", "+", "--1", "1-", "1.5", "1e3", " 1", "1 ", "0x1", "a", ":", "/",
                                       "1234567:", "/2345678", "123456789012x"}) {
    int64_t value;
    EXPECT_THAT(ParseInteger(text, &value), StatusIs(absl::StatusCode::kInvalidArgument,
                                                     HasSubstr(absl::StrCat("I3: bad integer \"", text, "\""))));
  }
}

// Every byte at every place of integers and categoricals of every length, against the definition.
TEST(CriteoTest, AcceptsExactlyDigitsAndHexDigits) {
  for (const size_t length : {1, 2, 7, 8, 9, 16, 17}) {
    for (size_t at = 0; at < length; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        if (c == '\t') continue;
        std::string field(length, '7');
        field[at] = c;
        const bool digit = c >= '0' && c <= '9';
        const bool sign = (c == '-' || c == '+') && at == 0 && length > 1;
        const bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        EXPECT_EQ(Parse(With(5, field)).ok(), digit || sign) << field;
        EXPECT_EQ(Parse(With(20, field)).ok(), hex && length <= 16) << field;
        EXPECT_EQ(Parse(With(39, field)).ok(), hex && length <= 16) << field;  // Nothing readable behind it.
        EXPECT_EQ(Parse("0\t" + field).ok(), digit || sign) << field;
      }
    }
  }
}

TEST(CriteoTest, NamesFieldAndContentOfBadHex) {
  EXPECT_THAT(Parse(With(25, "4z")), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("C12: bad hex \"4z\"")));
  EXPECT_THAT(Parse(With(14, "0x12")), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("C1: bad hex")));
  EXPECT_THAT(Parse(With(39, "0123456789abcdef0")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("C26: bad hex")));
}

TEST(CriteoTest, ShowsBadFieldsEscapedAndCut) {
  EXPECT_THAT(Parse(With(14, absl::string_view("1\0002\xff", 4))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("C1: bad hex \"1\\0002\\377\"")));
  EXPECT_THAT(Parse(With(0, absl::string_view("1\0", 2))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("label: \"1\\000\"")));
  const std::string five_megabytes(5'000'000, 'a');
  const absl::Status status = Parse(With(14, five_megabytes));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"...")));
  EXPECT_LT(status.message().size(), 80u);
  EXPECT_FALSE(Parse(five_megabytes).ok());
}

}  // namespace
}  // namespace rowan
