#include "hlo/builder/einsum.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace toroid {
namespace {

bool Distinct(absl::string_view letters) {
  for (size_t i = 0; i < letters.size(); ++i) {
    if (letters.find(letters[i], i + 1) != absl::string_view::npos) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Einsum> ParseEinsum(absl::string_view equation, const Shape& lhs, const Shape& rhs) {
  const auto fail = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("einsum ", equation, ": ", why));
  };
  const std::vector<absl::string_view> sides = absl::StrSplit(equation, "->");
  const std::vector<absl::string_view> inputs = absl::StrSplit(sides[0], ',');
  if (sides.size() != 2 || inputs.size() != 2) return fail("not of the form AB,BC->AC");
  const absl::string_view left = inputs[0], right = inputs[1], result = sides[1];
  if (!Distinct(left) || !Distinct(right) || !Distinct(result)) return fail("a letter occurs twice");
  if (static_cast<int>(left.size()) != lhs.rank() || static_cast<int>(right.size()) != rhs.rank()) {
    return fail(absl::StrCat("the operands are ", lhs.ToString(), " and ", rhs.ToString()));
  }
  const auto in = [](absl::string_view letters, char c) { return absl::StrContains(letters, c); };
  const auto at = [](absl::string_view letters, char c) { return static_cast<int64_t>(letters.find(c)); };
  Einsum einsum;
  std::string produced;  // Letters of the dot's result.
  for (const char c : result) {
    if (!in(left, c) && !in(right, c)) return fail("the result has an unknown letter");
    if (!in(left, c) || !in(right, c)) continue;
    einsum.numbers.add_lhs_batch_dimensions(at(left, c));
    einsum.numbers.add_rhs_batch_dimensions(at(right, c));
    produced.push_back(c);
  }
  for (const char c : left) {
    if (in(result, c)) {
      if (!in(right, c)) produced.push_back(c);
    } else if (in(right, c)) {
      einsum.numbers.add_lhs_contracting_dimensions(at(left, c));
      einsum.numbers.add_rhs_contracting_dimensions(at(right, c));
    } else {
      return fail("a letter stands in one operand only; reduce it first");
    }
  }
  for (const char c : right) {
    if (in(left, c)) continue;
    if (!in(result, c)) return fail("a letter stands in one operand only; reduce it first");
    produced.push_back(c);
  }
  for (const char c : result) einsum.permutation.push_back(at(produced, c));
  return einsum;
}

}  // namespace toroid
