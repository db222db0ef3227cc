// Members of a zip archive that someone hands in, by libzip: sizes that an archive states are not believed.
#pragma once

#include <zip.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace toroid {

struct ZipDiscard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using ZipArchive = std::unique_ptr<zip_t, ZipDiscard>;

class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ~ZipError() { zip_error_fini(&error_); }
  zip_error_t* get() { return &error_; }
  std::string Text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_;
};

// Whether the bytes begin like a zip archive.
bool LooksLikeZip(absl::string_view bytes);

// Opens an archive for reading. `bytes` must outlive it.
// Errors: kInvalidArgument if the archive is damaged.
absl::StatusOr<ZipArchive> OpenZip(absl::string_view bytes);

// "member INDEX" if it has no name.
std::string ZipMemberName(zip_t* archive, uint64_t index);

// The uncompressed size that the archive states for a member.
// Errors: kInvalidArgument if nothing compresses as well.
absl::StatusOr<uint64_t> ClaimedZipSize(zip_t* archive, uint64_t index);

// The first `limit` bytes of a member; the whole member if its stated size is no larger.
// Errors: kInvalidArgument if the member is damaged.
absl::StatusOr<std::string> ReadZipMember(zip_t* archive, uint64_t index, uint64_t limit);

}  // namespace toroid
