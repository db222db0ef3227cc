// NumPy files as arguments and results of a module.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {

// Whether the bytes are a .npy or .npz file.
bool LooksLikeNumpy(absl::string_view bytes);

// The arrays of a .npz or .npy file as the arguments of an entry computation: one array per parameter, or per
// element of a tuple parameter. If every member is named after a parameter, arr_K or K, members are matched
// by name; else they are taken in order. Parameters give the element types that files do not name. `shapes`:
// the arguments' shapes where they are larger than the parameters', as for a partitioned module; empty if
// they are equal. Everything is checked before values are unpacked.
// Errors: kInvalidArgument: a wrong number of arrays, "MEMBER: ..." if an element type differs or an array is
// larger than its parameter; kResourceExhausted if the arrays take more than `max_bytes`.
absl::StatusOr<std::vector<Literal>> NumpyArguments(absl::string_view bytes, const Computation& entry,
                                                    absl::Span<const Shape> shapes = {},
                                                    int64_t max_bytes = INT64_MAX);

// The arrays of a .npz or .npy file as a result of this shape, in its order (arr_0, arr_1, ...). An array may be smaller than
// its place, as the result of a partitioned module has padding where it is cut unevenly.
// Errors: as NumpyArguments.
absl::StatusOr<Literal> NumpyExpected(absl::string_view bytes, const Shape& result, int64_t max_bytes);

// Errors: kResourceExhausted (OverMemoryLimit).
absl::Status CheckArgumentBytes(const std::vector<Shape>& shapes, int64_t max_bytes);

// Whether the path ends in .npy or .npz, with or without .gz.
bool IsNumpyName(absl::string_view path);

// The arrays of a result as an .npz or .npy file, by the path's ending. Tokens are left out.
// Errors: kInvalidArgument if the path ends in .npy and the result does not hold exactly one array.
absl::Status CheckNumpyResult(const Shape& result, absl::string_view path);
absl::StatusOr<std::string> NumpyResult(const Literal& result, absl::string_view path);

}  // namespace toroid
