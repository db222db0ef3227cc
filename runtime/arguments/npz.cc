#include "runtime/arguments/npz.h"

#include <zip.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"
#include "hlo/base/text_table.h"
#include "runtime/arguments/zip_archive.h"

namespace toroid {
namespace {

constexpr uint64_t kMostHeaderBytes = 64 << 10;  // NumPy's own headers have 128 bytes or little more.

absl::StatusOr<NpyHeader> ReadHeader(zip_t* archive, uint64_t index) {
  ASSIGN_OR_RETURN(const std::string start, ReadZipMember(archive, index, kMostHeaderBytes));
  return ReadNpyHeader(start);
}

absl::StatusOr<NpyArray> ReadArray(zip_t* archive, uint64_t index, int64_t max_bytes, int64_t* left) {
  ASSIGN_OR_RETURN(const NpyHeader header, ReadHeader(archive, index));
  ASSIGN_OR_RETURN(const uint64_t size, ClaimedZipSize(archive, index));
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
  ASSIGN_OR_RETURN(const std::string content, ReadZipMember(archive, index, size));
  return ReadNpy(content);
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

bool LooksLikeNpz(absl::string_view bytes) { return LooksLikeZip(bytes); }

absl::StatusOr<NpzReader> NpzReader::Open(absl::string_view bytes, int64_t max_bytes) {
  if (!LooksLikeNpz(bytes)) return absl::InvalidArgumentError("not an .npz archive");
  ASSIGN_OR_RETURN(ZipArchive archive, OpenZip(bytes));
  NpzReader reader(std::move(archive), max_bytes);
  const zip_int64_t count = zip_get_num_entries(reader.archive_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const std::string name = ZipMemberName(reader.archive_.get(), static_cast<uint64_t>(i));
    reader.names_.emplace_back(absl::StripSuffix(name, ".npy"));
  }
  return reader;
}

absl::StatusOr<NpyHeader> NpzReader::Header(size_t member) const {
  absl::StatusOr<NpyHeader> header = ReadHeader(archive_.get(), member);
  if (!header.ok()) return Annotate(header.status(), absl::CHexEscape(ZipMemberName(archive_.get(), member)));
  return header;
}

absl::StatusOr<NpyArray> NpzReader::Read(size_t member) {
  absl::StatusOr<NpyArray> array = ReadArray(archive_.get(), member, max_bytes_, &left_);
  if (!array.ok()) return Annotate(array.status(), absl::CHexEscape(ZipMemberName(archive_.get(), member)));
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
  std::unique_ptr<zip_source_t, ZipDiscard> target(zip_source_buffer_create(nullptr, 0, 0, error.get()));
  if (target == nullptr) return absl::ResourceExhaustedError(error.Text());
  zip_source_keep(target.get());  // zip_open_from_source takes over one reference; `target` keeps another.
  ZipArchive archive(zip_open_from_source(target.get(), ZIP_CREATE | ZIP_TRUNCATE, error.get()));
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
