#include "runtime/arguments/npz.h"

#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"
#include "hlo/base/text_table.h"

namespace toroid {
namespace {

constexpr uint64_t kMostPerByte = 1100;          // No method of numpy.savez_compressed compresses more.
constexpr uint64_t kMostHeaderBytes = 64 << 10;  // NumPy's own headers have 128 bytes or little more.

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

// The uncompressed size that the archive states for a member.
absl::StatusOr<uint64_t> ClaimedSize(zip_t* archive, uint64_t index) {
  zip_stat_t info;
  constexpr uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive, index, 0, &info) != 0 || (info.valid & kNeeded) != kNeeded ||
      info.size / kMostPerByte > info.comp_size) {
    return absl::InvalidArgumentError("the member's size cannot be right");
  }
  return info.size;
}

// The first `limit` bytes of a member; the whole member if its stated size is no larger.
absl::StatusOr<std::string> ReadMember(zip_t* archive, uint64_t index, uint64_t limit) {
  ASSIGN_OR_RETURN(const uint64_t claimed, ClaimedSize(archive, index));
  const bool whole = claimed <= limit;
  const std::unique_ptr<zip_file_t, Discard> member(zip_fopen_index(archive, index, 0));
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

absl::StatusOr<NpyHeader> ReadHeader(zip_t* archive, uint64_t index) {
  ASSIGN_OR_RETURN(const std::string start, ReadMember(archive, index, kMostHeaderBytes));
  return ReadNpyHeader(start);
}

absl::StatusOr<NpyArray> ReadArray(zip_t* archive, uint64_t index, int64_t max_bytes, int64_t* left) {
  ASSIGN_OR_RETURN(const NpyHeader header, ReadHeader(archive, index));
  ASSIGN_OR_RETURN(const uint64_t size, ClaimedSize(archive, index));
  const int64_t bytes = header.shape.ByteSize();
  if (size > static_cast<uint64_t>(header.data_at + bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("holds ", size - header.data_at, " bytes of ",
                                                   header.shape.ToString(), ", ", bytes, " expected"));
  }
  if (bytes > *left) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the members hold more than ", BytesText(max_bytes), ", which is refused"));
  }
  *left -= bytes;
  ASSIGN_OR_RETURN(const std::string content, ReadMember(archive, index, size));
  return ReadNpy(content);
}

std::string NameOf(zip_t* archive, uint64_t index) {
  const char* name = zip_get_name(archive, index, ZIP_FL_ENC_RAW);
  return name == nullptr ? absl::StrCat("member ", index) : name;
}

// The bytes that the archive was written to.
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

void NpzReader::Discard::operator()(zip* archive) const { zip_discard(archive); }

absl::StatusOr<NpzReader> NpzReader::Open(absl::string_view bytes, int64_t max_bytes) {
  if (!LooksLikeNpz(bytes)) return absl::InvalidArgumentError("not an .npz archive");
  ZipError error;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get());
  if (source == nullptr) return absl::ResourceExhaustedError(error.Text());
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY, error.get());
  if (archive == nullptr) {
    zip_source_free(source);
    return absl::InvalidArgumentError(absl::StrCat("the archive is damaged: ", error.Text()));
  }
  NpzReader reader(archive, max_bytes);
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    reader.names_.emplace_back(absl::StripSuffix(NameOf(archive, static_cast<uint64_t>(i)), ".npy"));
  }
  return reader;
}

absl::StatusOr<NpyHeader> NpzReader::Header(size_t member) const {
  absl::StatusOr<NpyHeader> header = ReadHeader(archive_.get(), member);
  if (!header.ok()) return Annotate(header.status(), absl::CHexEscape(NameOf(archive_.get(), member)));
  return header;
}

absl::StatusOr<NpyArray> NpzReader::Read(size_t member) {
  absl::StatusOr<NpyArray> array = ReadArray(archive_.get(), member, max_bytes_, &left_);
  if (!array.ok()) return Annotate(array.status(), absl::CHexEscape(NameOf(archive_.get(), member)));
  return array;
}

absl::StatusOr<std::vector<NpzMember>> ReadNpz(absl::string_view bytes, int64_t max_bytes) {
  ASSIGN_OR_RETURN(NpzReader reader, NpzReader::Open(bytes, max_bytes));
  std::vector<NpzMember> members;
  for (size_t i = 0; i < reader.names().size(); ++i) {
    ASSIGN_OR_RETURN(NpyArray array, reader.Read(i));
    members.push_back({reader.names()[i], std::move(array)});
  }
  return members;
}

absl::StatusOr<std::string> WriteNpz(absl::Span<const Literal> arrays, absl::Span<const std::string> names) {
  // An archive without members is one record of 22 bytes; libzip would write no file.
  if (arrays.empty()) return absl::StrCat("PK\5\6", std::string(18, '\0'));
  std::vector<std::string> contents;  // The archive points into them until it is closed.
  for (const Literal& array : arrays) contents.push_back(WriteNpy(array));
  ZipError error;
  std::unique_ptr<zip_source_t, Discard> target(zip_source_buffer_create(nullptr, 0, 0, error.get()));
  if (target == nullptr) return absl::ResourceExhaustedError(error.Text());
  zip_source_keep(target.get());  // zip_open_from_source takes over one reference; `target` keeps another.
  Archive archive(zip_open_from_source(target.get(), ZIP_CREATE | ZIP_TRUNCATE, error.get()));
  if (archive == nullptr) {
    zip_source_free(target.get());
    return absl::InternalError(error.Text());
  }
  for (size_t i = 0; i < contents.size(); ++i) {
    zip_source_t* member = zip_source_buffer(archive.get(), contents[i].data(), contents[i].size(), 0);
    const std::string file_name = absl::StrCat(names.empty() ? absl::StrCat("arr_", i) : names[i], ".npy");
    const zip_int64_t index =
        member == nullptr ? -1 : zip_file_add(archive.get(), file_name.c_str(), member, 0);
    if (index < 0) zip_source_free(member);
    // 1980-01-01, the earliest date a zip file can state.
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
