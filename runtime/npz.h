// Several arrays as a .npz file of NumPy: a zip archive of .npy members.
#ifndef TOROID_RUNTIME_NPZ_H_
#define TOROID_RUNTIME_NPZ_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "runtime/npy.h"

namespace toroid {

struct NpzMember {
  std::string name;  // Without .npy.
  NpyArray array;
};

// Whether the bytes begin like a zip archive.
bool LooksLikeNpz(absl::string_view bytes);

// The members in the order of the archive. Memory is taken in proportion to what they really hold.
// Errors: kInvalidArgument "MEMBER: what is wrong", or that the archive is damaged; kResourceExhausted if the
// members hold 2 GiB or more.
absl::StatusOr<std::vector<NpzMember>> ReadNpz(absl::string_view bytes);

// The archive that numpy.savez(path, *arrays) makes: members arr_0, arr_1, ..., not compressed. The same
// bytes for the same arrays.
absl::StatusOr<std::string> WriteNpz(absl::Span<const Literal> arrays);

}  // namespace toroid

#endif  // TOROID_RUNTIME_NPZ_H_
