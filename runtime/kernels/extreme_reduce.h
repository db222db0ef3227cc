// Reducers of a value and an index that only compare: argmax, argmin and their kin.
//
// Such a reducer keeps the accumulator's value or takes the next one, and the same of their indices; which of them depends on
// nothing but how the values compare, and the indices. So what it does is known from a few cases, and its body need not be
// evaluated.
#pragma once

#include <array>
#include <optional>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// How the accumulator's value compares with the next one.
enum class Relation : uint8_t { kLess, kEqual, kGreater, kNanFirst, kNanSecond, kNanBoth };
inline constexpr int kRelations = 6;

struct ExtremeReducer {
  // Whether the next value, and the next index, are taken if the accumulator's index is less, equal, greater.
  struct Case {
    std::array<bool, 3> takes_value = {}, takes_index = {};
    bool operator==(const Case&) const = default;
  };
  std::array<Case, kRelations> cases;  // By Relation.

  const Case& at(Relation relation) const { return cases[static_cast<int>(relation)]; }
};

// nullopt for a reducer of another kind.
std::optional<ExtremeReducer> ExtremeReducerOf(const Computation& reducer);

// An array of `kept_outside` runs of `reduced` lines of `kept_inside` elements.
struct ReducedLines {
  int64_t kept_outside = 1, reduced = 1, kept_inside = 1;
};

// Reduces operands 0 and 1 from the starts in operands 2 and 3, in the order of elements. False, with nothing done, if there is
// no loop for values of this type (real numbers) or indices of that (s32, u32, s64). Errors: kResourceExhausted.
absl::StatusOr<bool> ReduceExtremes(OpCall& call, const ExtremeReducer& reducer, const ReducedLines& lines);

}  // namespace toroid
