// One array as a .npy file of NumPy.
//
// Source: numpy.lib.format, versions 1 to 3; for the types that NumPy has no name for, what the package
// ml_dtypes writes.
#ifndef TOROID_RUNTIME_ARGUMENTS_NPY_H_
#define TOROID_RUNTIME_ARGUMENTS_NPY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/literal.h"

namespace toroid {

// bfloat16, the floats of 8 bits and less and the integers of less than 8 bits are in a file only as
// "elements of so many bytes". Which type they are, the program says that takes them: see AsType.
struct NpyArray {
  Literal values;       // Elements without a type are u8 or u16 here.
  std::string untyped;  // How the file describes such elements, "<V2" say; empty where it names the type.
};

// What a file says of itself before its values.
struct NpyHeader {
  Shape shape;          // Elements without a type are u8 or u16 here.
  std::string untyped;  // As in NpyArray.
  bool swapped = false, fortran = false;
  int64_t data_at = 0;  // Where the values begin; they take shape.ByteSize() bytes.
};

// Whether the bytes begin like a .npy file.
bool LooksLikeNpy(absl::string_view bytes);

// The header, of which `bytes` need to hold no more.
absl::StatusOr<NpyHeader> ReadNpyHeader(absl::string_view bytes);

// Fortran order is turned into C order, big-endian values into native ones.
// Errors: kInvalidArgument for anything else than a well-formed array of numbers or booleans.
absl::StatusOr<NpyArray> ReadNpy(absl::string_view bytes);

// The array with elements of `type`. Types narrower than a byte take one byte each, of which the low bits
// count.
//   {"<V2", [0x3f80]} as bf16 -> bf16[1] {1}
// Errors: kInvalidArgument if the file names another type, or the elements have another width.
absl::StatusOr<Literal> AsType(const NpyArray& array, PrimitiveType type);

// The error that AsType would give, before there are values.
absl::Status CheckType(PrimitiveType given, absl::string_view untyped, PrimitiveType type);

// The file of an array. Types without a name become '<V2' or '<V1':
// numpy.load(path).view(ml_dtypes.bfloat16).
std::string WriteNpy(const Literal& array);

}  // namespace toroid

#endif  // TOROID_RUNTIME_ARGUMENTS_NPY_H_
