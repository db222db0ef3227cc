// HLO files of every format, recognized by their content.
//
//   HloModuleProto, HloProto, HloSnapshot, HloUnoptimizedSnapshot, HloModuleProtoWithConfig; each also as
//   protobuf text and JSON; HLO text; an HloUnoptimizedSnapshot that streams its arguments:
//     varint   the size of the message
//     message  HloUnoptimizedSnapshot; each partition has arguments_descriptors instead of arguments
//     stream   the arguments, partition after partition (serialized_literal.h), each of the size in its
//              descriptor
// The other fields of a wrapper (buffer assignment, arguments, result, platform, configuration, unknown ones)
// are kept and written back.
#pragma once

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
  // The container that was read; Format::kContainer writes the same one.
  Container container = Container::kProto;
  std::unique_ptr<Module> module;
  // The wrapper's other fields, without the module, on the module's arena. Null if there is no such wrapper;
  // a snapshot has both of the first two.
  const xla::HloProto* proto = nullptr;
  const xla::HloSnapshot* snapshot = nullptr;
  // Also set for a streamed snapshot, with the arguments in their fields.
  const xla::HloUnoptimizedSnapshot* unoptimized = nullptr;
  const xla::HloModuleProtoWithConfig* with_config = nullptr;

  // Harmless contradictions in HLO text, as "FILE:LINE:COL: warning: what".
  std::vector<std::string> warnings;

  bool HasArguments() const;
  // Recorded arguments, one per entry parameter; empty if there are none. For an unoptimized snapshot: those
  // of partition 0.
  absl::StatusOr<std::vector<Literal>> Arguments() const;
  // The recorded result of a snapshot.
  absl::StatusOr<std::optional<Literal>> Result() const;
};

// Errors: kInvalidArgument "LINE:COL: what" for text and "computation/instruction: what" for protos, or if
// the content is of no known format.
absl::StatusOr<HloFile> ReadHlo(absl::string_view bytes);

// Reads a file, "-" for standard input; it may be compressed (see ReadInput of hlo/base/files.h).
// Errors: those of ReadHlo and ReadInput, behind the path: "FILE:LINE:COL: what" or "FILE: what".
absl::StatusOr<HloFile> ReadHloFile(const std::string& path);

// Prints warnings to standard error, one line each. A warning is printed only once, however often the file is
// read. Commands call this when they have succeeded, so that a failing command prints only its error.
void PrintWarnings(const HloFile& file);

enum class Format {
  kContainer,            // binary, as HloFile::container; kText becomes HloProto
  kSnapshot,             // HloSnapshot, binary
  kUnoptimizedSnapshot,  // binary; the input's form if it is one, else with streamed arguments
  kHloText,
  kStableHlo,  // StableHLO text
  kProtoText,
  kJson,
};
// The format of an output name: *unoptimized_snapshot.pb, *snapshot.pb, .hlo, .txt, .mlir, .pbtxt, .json; kContainer
// for any other .pb, for "-", and for a path that exists and is no regular file (/dev/null, a pipe). A .gz at
// the end is ignored.
// Errors: kInvalidArgument for all other names; the message lists the known ones.
absl::StatusOr<Format> FormatOfName(const std::string& path);

// The file's bytes in `format`. A snapshot of one kind, written as the other, keeps its arguments.
// Errors: those of PrintStableHlo; kInvalidArgument if the format cannot hold the module: strings that are not UTF-8 need HLO
// text, arguments of several partitions an unoptimized snapshot.
absl::StatusOr<std::string> SerializeHlo(const HloFile& file, Format format);

// Writes a file (see WriteFile of hlo/base/files.h), "-" for standard output; compressed if the path ends in
// ".gz".
absl::Status WriteHloFile(const HloFile& file, const std::string& path, Format format);
// Writes the format of the name.
absl::Status WriteHloFile(const HloFile& file, const std::string& path);

}  // namespace toroid
