// Literals in HLO text: 7, -nan(0x3), (1, -0.5), { { 1, 2 }, { 3, 4 } }, (1, {2, 3}).
//
// Braces list elements in row-major order, independent of the layout; a value without braces is the value of
// all elements. Floats print with the fewest digits that read back to the same bits; NaNs keep sign and
// payload.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "hlo/io/text_scanner.h"
#include "hlo/ir/literal.h"

namespace toroid {

// The largest array that a single value may fill; the limit keeps memory proportional to the text.
inline constexpr int64_t kMaxSplatElements = 256;

// Reads a value of `shape`; nullopt for one that was left out, `{...}`. Memory is proportional to the text.
// Errors: kInvalidArgument "LINE:COL: ..." if the number of elements differs from the shape's, an integer is
// outside the type, a finite decimal overflows the type, or a decimal is given for an integer type.
absl::StatusOr<std::optional<Literal>> ParseLiteral(const Shape& shape, TextScanner* scanner);

// Appends the value.
void AppendLiteral(const Literal& literal, std::string* out);

}  // namespace toroid
