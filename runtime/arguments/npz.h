// Several arrays as a .npz file of NumPy: a zip archive of .npy members.
#pragma once

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
#include "runtime/arguments/zip_archive.h"

namespace toroid {

// Whether the bytes begin like a zip archive.
bool LooksLikeNpz(absl::string_view bytes);

// Reads the members of an archive one by one. Takes memory in proportion to the data, not to the sizes the
// archive states. Errors: kInvalidArgument "MEMBER: what is wrong", or if the archive is damaged;
// kResourceExhausted if the members read hold more than `max_bytes`.
class NpzReader {
 public:
  static constexpr int64_t kMaxBytes = (int64_t{1} << 31) - 1;  // The limit of uncompressed files.

  // `bytes` must outlive the reader.
  static absl::StatusOr<NpzReader> Open(absl::string_view bytes, int64_t max_bytes = kMaxBytes);

  // Member names in the archive's order, without .npy.
  const std::vector<std::string>& names() const { return names_; }
  // Reads a member's header; unpacks no values.
  absl::StatusOr<NpyHeader> Header(size_t member) const;
  // Reads a member; each at most once.
  absl::StatusOr<NpyArray> Read(size_t member);

 private:
  NpzReader(ZipArchive archive, int64_t max_bytes)
      : archive_(std::move(archive)), left_(max_bytes), max_bytes_(max_bytes) {}

  ZipArchive archive_;
  std::vector<std::string> names_;
  int64_t left_, max_bytes_;
};

struct NpzMember {
  std::string name;  // Without .npy.
  NpyArray array;
};

// Reads all members.
absl::StatusOr<std::vector<NpzMember>> ReadNpz(absl::string_view bytes,
                                               int64_t max_bytes = NpzReader::kMaxBytes);

// The archive that numpy.savez(path, *arrays) writes, not compressed: members arr_0, arr_1, ..., or the given
// names. Equal arrays give equal bytes.
absl::StatusOr<std::string> WriteNpz(absl::Span<const Literal> arrays,
                                     absl::Span<const std::string> names = {});

}  // namespace toroid
