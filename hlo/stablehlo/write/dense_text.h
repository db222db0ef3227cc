// Literals and types as MLIR spells them.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/shape.h"

namespace toroid {

// i1, i32, ui8, f32, f8E4M3FN, complex<f32>.
std::string MlirElementType(PrimitiveType type);

// tensor<4x6xf32>, tensor<?x6xf32, #stablehlo.bounds<8, ?>>, !stablehlo.token. `shape` is no tuple.
std::string MlirType(const Shape& shape);

// dense<[[1, 2], [3, 4]]>, without the type. One value that all elements have stands alone; many elements are written as the
// bytes of all, in hexadecimal.
std::string DenseText(const Literal& literal);

// dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>. All rows have `columns` numbers.
std::string DenseRows(absl::Span<const std::vector<int64_t>> rows, size_t columns);

// "text" with quotes, backslashes and bytes that are not printable escaped.
std::string MlirString(absl::string_view text);

}  // namespace toroid
