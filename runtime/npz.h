// Arrays in NumPy's .npz files: a zip archive of .npy members, stored or deflated.
//
// Source: numpy.lib.format, versions 1 to 3; PKZIP application note, without encryption and multi-disk
// archives.
#ifndef TOROID_RUNTIME_NPZ_H_
#define TOROID_RUNTIME_NPZ_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"

namespace toroid {

// One array of an .npy file; Fortran order is turned into C order, big-endian values into native ones. The
// types bfloat16 and float8 of other packages are void types in files: they are not read. Errors:
// kInvalidArgument for anything else than a well-formed array of a known type.
absl::StatusOr<Literal> ReadNpy(absl::string_view bytes);

// The members in the order of the archive, as (name without .npy, array).
// Errors: kInvalidArgument "MEMBER: what is wrong".
absl::StatusOr<std::vector<std::pair<std::string, Literal>>> ReadNpz(absl::string_view bytes);

// An archive of arrays arr_0, arr_1, ..., stored uncompressed. Types that NumPy lacks become wider ones: narrow floats f32,
// integers below a byte s8 and u8. Errors: kInvalidArgument for tuples and tokens, kResourceExhausted from 2 GiB on.
absl::StatusOr<std::string> WriteNpz(absl::Span<const Literal> arrays);

// Whether the bytes begin like a zip archive.
bool LooksLikeNpz(absl::string_view bytes);

}  // namespace toroid

#endif  // TOROID_RUNTIME_NPZ_H_
