// One array as a .npy file of NumPy.
//
// Source: numpy.lib.format, versions 1 to 3; types that NumPy has no name for are written as the package
// ml_dtypes writes them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/literal.h"

namespace toroid {

// A file states only the width in bytes for bfloat16, floats of 8 bits or less and integers of less than 8
// bits. The program that takes the array says which type they are: see AsType.
struct NpyArray {
  Literal values;  // Elements without a type are u8 or u16 here.
  // How the file describes such elements, for example "<V2"; empty if it names the type.
  std::string untyped;
};

// The header of a file: what precedes its values.
struct NpyHeader {
  Shape shape;          // Elements without a type are u8 or u16 here.
  std::string untyped;  // As in NpyArray.
  bool swapped = false, fortran = false;
  int64_t data_at = 0;  // Where the values begin; they take shape.ByteSize() bytes.
};

// Whether the bytes begin like a .npy file.
bool LooksLikeNpy(absl::string_view bytes);

// Reads the header; `bytes` may end where the header ends.
absl::StatusOr<NpyHeader> ReadNpyHeader(absl::string_view bytes);

// Fortran order becomes C order, big-endian values become native ones.
// Errors: kInvalidArgument for anything but a well-formed array of numbers or booleans.
absl::StatusOr<NpyArray> ReadNpy(absl::string_view bytes);

// The array with elements of `type`. Types narrower than a byte take one byte each, and only their low bits
// count.
//   {"<V2", [0x3f80]} as bf16 -> bf16[1] {1}
// Errors: kInvalidArgument if the file names another type or the elements have another width.
absl::StatusOr<Literal> AsType(const NpyArray& array, PrimitiveType type);

// The error that AsType would return, known from the header alone.
absl::Status CheckType(PrimitiveType given, absl::string_view untyped, PrimitiveType type);

// The .npy file of an array. Types without a NumPy name become '<V2' or '<V1'; read them with
// numpy.load(path).view(ml_dtypes.bfloat16).
std::string WriteNpy(const Literal& array);

}  // namespace toroid
