// Shapes in HLO text: f32[2,<=3]{1,0:T(8,128)}, (f32[], token[]), b(f32[4]).
//
// The printing side is Shape::ToString.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/io/text_scanner.h"
#include "hlo/ir/shape.h"

namespace toroid {

// True if a shape comes next: `(`, or a type name directly followed by `[`, or `b(`.
bool AtShape(TextScanner* scanner);

// Reads one shape. A missing layout means row-major. Obsolete layout attributes are read and dropped.
// Errors: kInvalidArgument "LINE:COL: ..." for unknown types, sizes that overflow, layouts that are no
// permutation.
absl::StatusOr<Shape> ParseShape(TextScanner* scanner);
absl::StatusOr<Shape> ParseShape(absl::string_view text);

}  // namespace toroid
