// HLO files of every format, recognised from their content.
//
//   HloModuleProto, HloProto, HloSnapshot, HloUnoptimizedSnapshot, HloModuleProtoWithConfig; each also as
//   protobuf text and JSON; HLO text.
// The fields of a wrapper besides the module (buffer assignment, arguments, result, platform, configuration,
// unknown ones) are kept, and written back.
#ifndef TOROID_HLO_IO_FILE_H_
#define TOROID_HLO_IO_FILE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/io/container.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {

struct HloFile {
  // What the file was; also what it is written as, where the format asks for "the container of the input".
  Container container = Container::kProto;
  std::unique_ptr<Module> module;
  // The wrapper's other fields, on the module's arena; the module inside is absent. Null if there is no such
  // wrapper; a snapshot has both of the first two.
  const xla::HloProto* proto = nullptr;
  const xla::HloSnapshot* snapshot = nullptr;
  const xla::HloUnoptimizedSnapshot* unoptimized = nullptr;
  const xla::HloModuleProtoWithConfig* with_config = nullptr;

  bool HasArguments() const;
  // Recorded arguments, one per entry parameter (of partition 0 in an unoptimized snapshot); empty if there
  // are none.
  absl::StatusOr<std::vector<Literal>> Arguments() const;
  // The recorded result of a snapshot.
  absl::StatusOr<std::optional<Literal>> Result() const;
};

// Errors: kInvalidArgument: text "LINE:COL: what", protos "computation/instruction: what", or that the
// content is of no known format.
absl::StatusOr<HloFile> ReadHlo(absl::string_view bytes);

// Reads a file, "-" for standard input; it may be compressed (see ReadInput of hlo/base/files.h).
// Errors: those of ReadHlo and of reading, the path in front: "FILE:LINE:COL: what" or "FILE: what".
absl::StatusOr<HloFile> ReadHloFile(const std::string& path);

enum class Format {
  kContainer,  // Binary, HloFile::container; text is written as HloProto
  kSnapshot,   // HloSnapshot, binary
  kHloText,
  kProtoText,
  kJson,
};
// The format that an output name asks for: *snapshot.pb, .hlo, .txt, .pbtxt, .json; all others kContainer. A
// .gz behind it is not looked at.
Format FormatOfName(absl::string_view path);

// Errors: kInvalidArgument where the format cannot hold the module: strings that are not UTF-8 stay in HLO
// text.
absl::StatusOr<std::string> SerializeHlo(const HloFile& file, Format format);

// Writes a file (see WriteFile of hlo/base/files.h), "-" for standard output; compressed where the path ends
// in ".gz".
absl::Status WriteHloFile(const HloFile& file, const std::string& path, Format format);
inline absl::Status WriteHloFile(const HloFile& file, const std::string& path) {
  return WriteHloFile(file, path, FormatOfName(path));
}

}  // namespace toroid

#endif  // TOROID_HLO_IO_FILE_H_
