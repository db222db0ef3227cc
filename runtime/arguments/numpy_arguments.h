// NumPy files as arguments and results of a module.
#ifndef TOROID_RUNTIME_ARGUMENTS_NUMPY_ARGUMENTS_H_
#define TOROID_RUNTIME_ARGUMENTS_NUMPY_ARGUMENTS_H_

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

// The arrays of a .npz or .npy file as the arguments of an entry computation, one array for each parameter,
// or for each element of a tuple parameter. Members called like the parameters, or arr_0, arr_1, ..., or by
// number are matched by name; if not all can be, they are taken in order. Parameters give the element types
// that files do not name. `shapes` are those of the arguments where they are larger than the parameters, as
// those of a partitioned module; none if they are equal. All is checked before any values are unpacked.
// Errors: kInvalidArgument: another number of arrays, "MEMBER: ..." where an element type differs or an array
// is larger than its place; kResourceExhausted if they take more than `max_bytes`.
absl::StatusOr<std::vector<Literal>> NumpyArguments(absl::string_view bytes, const Computation& entry,
                                                    absl::Span<const Shape> shapes = {},
                                                    int64_t max_bytes = INT64_MAX);

// Errors: kResourceExhausted (OverMemoryLimit).
absl::Status CheckArgumentBytes(const std::vector<Shape>& shapes, int64_t max_bytes);

// Whether the name asks for .npy or .npz, compressed or not.
bool IsNumpyName(absl::string_view path);

// The arrays of a result, as .npz or .npy by the name. Tokens are left out.
// Errors: kInvalidArgument if the name asks for .npy and there is not exactly one array.
absl::Status CheckNumpyResult(const Shape& result, absl::string_view path);
absl::StatusOr<std::string> NumpyResult(const Literal& result, absl::string_view path);

}  // namespace toroid

#endif  // TOROID_RUNTIME_ARGUMENTS_NUMPY_ARGUMENTS_H_
