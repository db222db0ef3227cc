#include "runtime/npz.h"

#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr uint64_t kMaxBytes =
    (uint64_t{1} << 31) - 1;             // Of all members, as for files that are not compressed.
constexpr uint64_t kMostPerByte = 1100;  // No method of numpy.savez_compressed shrinks better.

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ~ZipError() { zip_error_fini(&error_); }
  zip_error_t* get() { return &error_; }
  std::string Text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_;
};

// A member's content, of at most `limit` bytes.
absl::StatusOr<std::string> ReadMember(zip_t* archive, uint64_t index, uint64_t limit) {
  zip_stat_t info;
  constexpr uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive, index, 0, &info) != 0 || (info.valid & kNeeded) != kNeeded ||
      info.size / kMostPerByte > info.comp_size) {
    return absl::InvalidArgumentError("the member's size cannot be right");
  }
  if (info.size > limit)
    return absl::ResourceExhaustedError("the members hold 2 GiB or more, which is refused");
  const std::unique_ptr<zip_file_t, Discard> member(zip_fopen_index(archive, index, 0));
  if (member == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("the member cannot be read: ", zip_strerror(archive)));
  }
  // The sizes are only claims until the data is there. One byte more, so that the end, and with it the check
  // sum, is reached.
  std::string content;
  size_t size = 0;
  while (true) {
    if (size == content.size()) {
      content.resize(std::min<uint64_t>(info.size + 1, std::max<size_t>(2 * size, 1 << 16)));
    }
    const zip_int64_t n = zip_fread(member.get(), content.data() + size, content.size() - size);
    if (n < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the member is damaged: ", zip_file_strerror(member.get())));
    }
    size += static_cast<size_t>(n);
    if (n == 0 || size > info.size) break;
  }
  if (size != info.size) return absl::InvalidArgumentError("the member is damaged: it has another size");
  content.resize(size);
  return content;
}

// The bytes that an archive was written to.
absl::StatusOr<std::string> Drain(zip_source_t* source) {
  zip_stat_t info;
  if (zip_source_open(source) != 0) return absl::InternalError("the archive cannot be read back");
  std::string bytes;
  if (zip_source_stat(source, &info) == 0 && (info.valid & ZIP_STAT_SIZE) != 0) bytes.resize(info.size);
  const bool whole =
      zip_source_read(source, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size());
  zip_source_close(source);
  if (!whole) return absl::InternalError("the archive cannot be read back");
  return bytes;
}

}  // namespace

bool LooksLikeNpz(absl::string_view bytes) {
  return absl::StartsWith(bytes, absl::string_view("PK\3\4", 4)) ||
         absl::StartsWith(bytes, absl::string_view("PK\5\6", 4));
}

absl::StatusOr<std::vector<NpzMember>> ReadNpz(absl::string_view bytes) {
  if (!LooksLikeNpz(bytes)) return absl::InvalidArgumentError("is no .npz archive");
  ZipError error;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get());
  if (source == nullptr) return absl::ResourceExhaustedError(error.Text());
  const Archive archive(zip_open_from_source(source, ZIP_RDONLY, error.get()));
  if (archive == nullptr) {
    zip_source_free(source);
    return absl::InvalidArgumentError(absl::StrCat("the archive is damaged: ", error.Text()));
  }
  std::vector<NpzMember> members;
  uint64_t left = kMaxBytes;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* raw_name = zip_get_name(archive.get(), static_cast<uint64_t>(i), ZIP_FL_ENC_RAW);
    const std::string name = raw_name == nullptr ? absl::StrCat("member ", i) : raw_name;
    absl::StatusOr<std::string> content = ReadMember(archive.get(), static_cast<uint64_t>(i), left);
    if (!content.ok()) return Annotate(content.status(), absl::CHexEscape(name));
    left -= content->size();
    absl::StatusOr<NpyArray> array = ReadNpy(*content);
    if (!array.ok()) return Annotate(array.status(), absl::CHexEscape(name));
    members.push_back({std::string(absl::StripSuffix(name, ".npy")), *std::move(array)});
  }
  return members;
}

absl::StatusOr<std::string> WriteNpz(absl::Span<const Literal> arrays) {
  // An archive without members is one record of 22 bytes; libzip would write none.
  if (arrays.empty()) return absl::StrCat("PK\5\6", std::string(18, '\0'));
  std::vector<std::string> contents;  // The archive points into them until it is closed.
  for (const Literal& array : arrays) contents.push_back(WriteNpy(array));
  ZipError error;
  std::unique_ptr<zip_source_t, Discard> target(zip_source_buffer_create(nullptr, 0, 0, error.get()));
  if (target == nullptr) return absl::ResourceExhaustedError(error.Text());
  zip_source_keep(target.get());  // The archive takes over one reference; this one outlives it.
  Archive archive(zip_open_from_source(target.get(), ZIP_CREATE | ZIP_TRUNCATE, error.get()));
  if (archive == nullptr) {
    zip_source_free(target.get());
    return absl::InternalError(error.Text());
  }
  for (size_t i = 0; i < contents.size(); ++i) {
    zip_source_t* member = zip_source_buffer(archive.get(), contents[i].data(), contents[i].size(), 0);
    const zip_int64_t index =
        member == nullptr ? -1
                          : zip_file_add(archive.get(), absl::StrCat("arr_", i, ".npy").c_str(), member, 0);
    if (index < 0) zip_source_free(member);
    // 1980-01-01, the earliest there is.
    if (index < 0 ||
        zip_set_file_compression(archive.get(), static_cast<uint64_t>(index), ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive.get(), static_cast<uint64_t>(index), 0, 0x21, 0) != 0) {
      return absl::InternalError(zip_strerror(archive.get()));
    }
  }
  if (zip_close(archive.get()) != 0) return absl::InternalError(zip_strerror(archive.get()));
  archive.release();
  return Drain(target.get());
}

}  // namespace toroid
