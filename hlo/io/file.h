// HLO files of every format, recognised from their content.
//
//   HloModuleProto, HloProto, HloSnapshot, HloUnoptimizedSnapshot, HloModuleProtoWithConfig; each also as
//   protobuf text and JSON; HLO text; an HloUnoptimizedSnapshot that streams its arguments:
//     varint   the size of the message
//     message  HloUnoptimizedSnapshot; each partition has arguments_descriptors in the place of arguments
//     stream   the arguments, partition after partition, each of the size in its descriptor (serialized_literal.h)
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
  // Of a streamed snapshot too, the arguments in their places.
  const xla::HloUnoptimizedSnapshot* unoptimized = nullptr;
  const xla::HloModuleProtoWithConfig* with_config = nullptr;

  // What text says against itself without harm, as "FILE:LINE:COL: warning: what".
  std::vector<std::string> warnings;

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

// To standard error, a line each, and each but once however often the file is read. Commands do so once they
// are done: where they fail, the error stands alone.
void PrintWarnings(const HloFile& file);

enum class Format {
  kContainer,            // Binary, HloFile::container; text is written as HloProto
  kSnapshot,             // HloSnapshot, binary
  kUnoptimizedSnapshot,  // binary: as the input if that is one, else with streamed arguments
  kHloText,
  kProtoText,
  kJson,
};
// The format that an output name asks for: *unoptimized_snapshot.pb, *snapshot.pb, .hlo, .txt, .pbtxt, .json;
// .pb kContainer. A .gz behind it is not looked at. "-", and what exists and is no regular file (/dev/null, a
// pipe), have no name to speak of: kContainer.
// Errors: kInvalidArgument for all other names, with the known ones.
absl::StatusOr<Format> FormatOfName(const std::string& path);

// A snapshot of one kind gives its arguments to the other.
// Errors: kInvalidArgument where the format cannot hold the module: strings that are not UTF-8 stay in HLO
// text, arguments of several partitions in an unoptimized snapshot.
absl::StatusOr<std::string> SerializeHlo(const HloFile& file, Format format);

// Writes a file (see WriteFile of hlo/base/files.h), "-" for standard output; compressed where the path ends
// in ".gz".
absl::Status WriteHloFile(const HloFile& file, const std::string& path, Format format);
// In the format that the name asks for.
absl::Status WriteHloFile(const HloFile& file, const std::string& path);

}  // namespace toroid

#endif  // TOROID_HLO_IO_FILE_H_
