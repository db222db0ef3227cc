// Reads and writes whole files.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace toroid {

// The largest size of a protocol buffer.
inline constexpr size_t kMaxFileBytes = (size_t{1} << 31) - 1;

// The bytes of a file; "-" is standard input.
// Errors: kNotFound or kUnavailable "PATH: why" if the file cannot be read; kResourceExhausted for more than
// `limit` bytes.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t limit = kMaxFileBytes);

// Writes a file; "-" is standard output. A regular file is written under another name in the same folder and
// then renamed, so that it is complete or absent; anything else that exists (/dev/null, a pipe) is written
// directly.
// Errors: kUnavailable "PATH: why"; an older file is left untouched.
absl::Status WriteFile(const std::string& path, absl::string_view bytes);

// Replaces the content of a file; the new bytes are on the disk when this returns. If the process is killed
// or the machine loses power, the file holds either all old or all new bytes. The bytes are first written to
// PATH.part, which overwrites a PATH.part left by an interrupted call. Requires: no two calls for one path at
// the same time.
// Errors: kUnavailable "PATH: why", also if PATH is no regular file; the old file is left untouched.
absl::Status ReplaceFileDurably(const std::string& path, absl::string_view bytes);

// The content of an input file. Gzip data, recognized by its first bytes, is decompressed, up to three layers
// deep; an inner layer may expand to no more than a single layer of a file of this size could. The compressed
// and the decompressed bytes are each at most `limit`.
// Errors: those of ReadFile; those of Gunzip, and deeper nesting, as "PATH: what".
absl::StatusOr<std::string> ReadInput(const std::string& path, size_t limit = kMaxFileBytes);

// WriteFile, compressed where the path ends in ".gz".
absl::Status WriteOutput(const std::string& path, absl::string_view bytes);

// True for "-" and for a path that exists and is no regular file: /dev/null, a pipe.
bool IsStream(const std::string& path);

// The path without ".gz" at its end, so that the extension names the format inside.
absl::string_view WithoutGz(absl::string_view path);

}  // namespace toroid
