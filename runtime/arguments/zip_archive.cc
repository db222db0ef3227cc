#include "runtime/arguments/zip_archive.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr uint64_t kMostPerByte = 1100;  // No method of numpy.savez_compressed compresses more.

}  // namespace

bool LooksLikeZip(absl::string_view bytes) {
  return absl::StartsWith(bytes, absl::string_view("PK\3\4", 4)) ||
         absl::StartsWith(bytes, absl::string_view("PK\5\6", 4));
}

absl::StatusOr<ZipArchive> OpenZip(absl::string_view bytes) {
  ZipError error;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get());
  if (source == nullptr) return absl::ResourceExhaustedError(error.Text());
  ZipArchive archive(zip_open_from_source(source, ZIP_RDONLY, error.get()));
  if (archive == nullptr) {
    zip_source_free(source);
    return absl::InvalidArgumentError(absl::StrCat("the archive is damaged: ", error.Text()));
  }
  return archive;
}

std::string ZipMemberName(zip_t* archive, uint64_t index) {
  const char* name = zip_get_name(archive, index, ZIP_FL_ENC_RAW);
  return name == nullptr ? absl::StrCat("member ", index) : name;
}

absl::StatusOr<uint64_t> ClaimedZipSize(zip_t* archive, uint64_t index) {
  zip_stat_t info;
  constexpr uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive, index, 0, &info) != 0 || (info.valid & kNeeded) != kNeeded ||
      info.size / kMostPerByte > info.comp_size) {
    return absl::InvalidArgumentError("the member's size cannot be right");
  }
  return info.size;
}

absl::StatusOr<std::string> ReadZipMember(zip_t* archive, uint64_t index, uint64_t limit) {
  ASSIGN_OR_RETURN(const uint64_t claimed, ClaimedZipSize(archive, index));
  const bool whole = claimed <= limit;
  const std::unique_ptr<zip_file_t, ZipDiscard> member(zip_fopen_index(archive, index, 0));
  if (member == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("the member cannot be read: ", zip_strerror(archive)));
  }
  // The stated size may be wrong, so memory grows with the data. Reading a whole member asks for one byte
  // more, so that libzip reaches its end and verifies the checksum.
  const uint64_t wanted = whole ? claimed + 1 : limit;
  std::string content;
  size_t size = 0;
  while (size < wanted) {
    if (size == content.size()) {
      content.resize(std::min<uint64_t>(wanted, std::max<size_t>(2 * size, 1 << 16)));
    }
    const zip_int64_t n = zip_fread(member.get(), content.data() + size, content.size() - size);
    if (n < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the member is damaged: ", zip_file_strerror(member.get())));
    }
    size += static_cast<size_t>(n);
    if (n == 0) break;
  }
  if (size != (whole ? claimed : limit)) {
    return absl::InvalidArgumentError("the member is damaged: it has another size");
  }
  content.resize(size);
  return content;
}

}  // namespace toroid
