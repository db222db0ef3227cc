// Several arrays as a .npz file of NumPy: a zip archive of .npy members.
#ifndef TOROID_RUNTIME_ARGUMENTS_NPZ_H_
#define TOROID_RUNTIME_ARGUMENTS_NPZ_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "runtime/arguments/npy.h"

struct zip;  // Of libzip.

namespace toroid {

// Whether the bytes begin like a zip archive.
bool LooksLikeNpz(absl::string_view bytes);

// The members of an archive, one by one. Memory is taken in proportion to what they really hold.
// Errors: kInvalidArgument "MEMBER: what is wrong", or that the archive is damaged; kResourceExhausted if the
// members read hold more than `max_bytes`.
class NpzReader {
 public:
  static constexpr int64_t kMaxBytes = (int64_t{1} << 31) - 1;  // As for files that are not compressed.

  // `bytes` stay where they are.
  static absl::StatusOr<NpzReader> Open(absl::string_view bytes, int64_t max_bytes = kMaxBytes);

  // In the order of the archive, without .npy.
  const std::vector<std::string>& names() const { return names_; }
  // Unpacks no values.
  absl::StatusOr<NpyHeader> Header(size_t member) const;
  // Each member at most once.
  absl::StatusOr<NpyArray> Read(size_t member);

 private:
  struct Discard {
    void operator()(zip* archive) const;
  };

  NpzReader(zip* archive, int64_t max_bytes) : archive_(archive), left_(max_bytes), max_bytes_(max_bytes) {}

  std::unique_ptr<zip, Discard> archive_;
  std::vector<std::string> names_;
  int64_t left_, max_bytes_;
};

struct NpzMember {
  std::string name;  // Without .npy.
  NpyArray array;
};

// All of them.
absl::StatusOr<std::vector<NpzMember>> ReadNpz(absl::string_view bytes,
                                               int64_t max_bytes = NpzReader::kMaxBytes);

// The archive that numpy.savez(path, *arrays) makes: members arr_0, arr_1, ..., or of other names, not
// compressed. The same bytes for the same arrays.
absl::StatusOr<std::string> WriteNpz(absl::Span<const Literal> arrays,
                                     absl::Span<const std::string> names = {});

}  // namespace toroid

#endif  // TOROID_RUNTIME_ARGUMENTS_NPZ_H_
