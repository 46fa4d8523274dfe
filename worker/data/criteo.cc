#include "worker/data/criteo.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/numeric/bits.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "worker/data/byte_scan.h"

namespace rowan {
namespace {

constexpr size_t kMaxHexDigits = 16;
constexpr uint64_t kEach = 0x0101010101010101;  // Times a byte: that byte in each of the 8 places.

// What a bad field holds, for a message: quoted, one line, not long.
std::string Seen(absl::string_view field) {
  constexpr size_t kMax = 40;
  return absl::StrCat("\"", absl::CEscape(field.substr(0, kMax)), "\"", field.size() > kMax ? "..." : "");
}

// Integers of up to 8 bytes, nearly all, are read without branches: kTables.mask[n] keeps the n lowest bytes of a word,
// kTables.zeros[n] has the digit 0 in the others.
struct Tables {
  uint64_t mask[9] = {};
  uint64_t zeros[9] = {};
};
constexpr Tables MakeTables() {
  Tables tables;
  for (int n = 0; n <= 8; ++n) {
    tables.mask[n] = n == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * n)) - 1;
    tables.zeros[n] = kEach * '0' & ~tables.mask[n];
  }
  return tables;
}
constexpr Tables kTables = MakeTables();

uint64_t Load8(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

// Eight decimal digits at once, the first one lowest in `word`. Returns false if one is no digit.
bool EightDigits(uint64_t word, uint64_t* value) {
  const bool good = ((word & (word + kEach * 6)) & kEach * 0xf0) == kEach * 0x30;
  word &= kEach * 0x0f;
  word = (word * 10 + (word >> 8)) & 0x00ff00ff00ff00ff;
  word = (word * 100 + (word >> 16)) & 0x0000ffff0000ffff;
  *value = (word * 10000 + (word >> 32)) & 0xffffffff;
  return good;
}

enum class Number { kGood, kBad, kTooLarge };

Number ParseLongInteger(absl::string_view digits, bool negative, int64_t* value) {
  const uint64_t limit = (uint64_t{1} << 63) - (negative ? 0 : 1);
  uint64_t magnitude = 0;
  bool too_large = false;
  for (const char c : digits) {
    const unsigned digit = static_cast<unsigned char>(c) - '0';
    if (digit > 9) return Number::kBad;
    too_large = too_large || magnitude > (limit - digit) / 10;
    if (!too_large) magnitude = magnitude * 10 + digit;
  }
  if (too_large) return Number::kTooLarge;
  *value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return Number::kGood;
}

// 0 for an empty field. `readable`: bytes from its start that may be read.
Number ParseInteger(absl::string_view field, size_t readable, int64_t* value) {
  *value = 0;
  bool negative = false;
  if (!field.empty() && (field[0] == '-' || field[0] == '+')) {
    negative = field[0] == '-';
    field.remove_prefix(1);
    --readable;
    if (field.empty()) return Number::kBad;
  }
  const size_t n = field.size();
  if (n > 8 || readable < 8) return ParseLongInteger(field, negative, value);
  // The digits at the upper end of the word, zeros in front of them.
  const uint64_t word = (Load8(field.data()) & kTables.mask[n]) | kTables.zeros[n];
  uint64_t magnitude;
  if (!EightDigits(absl::rotl(word, static_cast<int>(8 * (8 - n)) & 63), &magnitude)) return Number::kBad;
  *value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return Number::kGood;
}

// The error of the first bad one. REQUIRES: there is one.
absl::Status BadCategorical(const CriteoRow& row) {
  int i = 0;
  while (row.categoricals[i].size() <= kMaxHexDigits && IsHexOrTabs(row.categoricals[i])) ++i;
  return absl::InvalidArgumentError(absl::StrCat("C", i + 1, ": bad hex ", Seen(row.categoricals[i])));
}

}  // namespace

absl::Status ParseCriteo(absl::string_view line, CriteoLayout layout, CriteoRow* row) {
  const bool labelled = layout == CriteoLayout::kLabelled;
  constexpr int kMaxFields = 1 + kCriteoIntegers + kCriteoCategoricals;
  const int max_fields = labelled ? kMaxFields : kMaxFields - 1;
  size_t tabs[kMaxFields + kTabScanSlack];
  const int found = FindTabs(line, max_fields, tabs);
  if (found == max_fields) return absl::InvalidArgumentError(absl::StrCat("more than ", max_fields, " fields"));
  std::fill(tabs + found, tabs + max_fields, line.size());

  const size_t* end = tabs;
  size_t begin = 0;
  const auto next = [&] {
    const absl::string_view field(line.data() + begin, *end - begin);
    begin = std::min(*end + 1, line.size());
    ++end;
    return field;
  };
  const auto readable = [&](absl::string_view field) -> size_t { return line.data() + line.size() - field.data(); };

  row->label = 0;
  if (labelled) {
    const absl::string_view field = next();
    if (field != "0" && field != "1") {
      return absl::InvalidArgumentError(absl::StrCat("label: ", Seen(field), " is neither 0 nor 1"));
    }
    row->label = field[0] - '0';
  }
  uint32_t missing = 0;
  for (int i = 0; i < kCriteoIntegers; ++i) {
    const absl::string_view field = next();
    missing |= uint32_t{field.empty()} << i;
    const Number number = ParseInteger(field, readable(field), &row->integers[i]);
    if (number != Number::kGood) {
      return absl::InvalidArgumentError(absl::StrCat(
          "I", i + 1, ": ", number == Number::kBad ? "bad integer " : "integer of more than 64 bits ", Seen(field)));
    }
  }
  row->missing = missing;
  const bool all_hex = IsHexOrTabs(line.substr(begin));
  bool too_long = false;
  for (int i = 0; i < kCriteoCategoricals; ++i) {
    row->categoricals[i] = next();
    too_long |= row->categoricals[i].size() > kMaxHexDigits;
  }
  return all_hex && !too_long ? absl::OkStatus() : BadCategorical(*row);
}

}  // namespace rowan
