// Whole files in and out.
#ifndef TOROID_HLO_BASE_FILES_H_
#define TOROID_HLO_BASE_FILES_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace toroid {

// What a protocol buffer may take.
inline constexpr size_t kMaxFileBytes = (size_t{1} << 31) - 1;

// The bytes of a file; "-" is standard input.
// Errors: kNotFound or kUnavailable "PATH: why" where it cannot be read; kResourceExhausted for more than
// `limit` bytes.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t limit = kMaxFileBytes);

// Writes a file; "-" is standard output. A regular file is written under another name beside it and renamed,
// so that it is there whole or not at all; anything else that exists (/dev/null, a pipe) is written directly.
// Errors: kUnavailable "PATH: why"; what was there is untouched then.
absl::Status WriteFile(const std::string& path, absl::string_view bytes);

// Replaces a file by one with these bytes, which are on the disk when this returns: at every moment, should the process be
// killed or the machine lose power, the whole old or the whole new file is there. They are written to PATH.part first; what an
// interrupted call left of it, the next one overwrites. One call at a time for a path.
// Errors: kUnavailable "PATH: why", also where PATH is no regular file; what was there is untouched then.
absl::Status ReplaceFileDurably(const std::string& path, absl::string_view bytes);

// What a file that a user hands in holds: gzip data, recognised from its content, is decompressed (gzip
// inside gzip up to three deep, where it holds no more than one layer of a file of this size may). At most
// `limit` bytes, compressed or not.
// Errors: those of ReadFile; those of Gunzip and gzip nested deeper as "PATH: what".
absl::StatusOr<std::string> ReadInput(const std::string& path, size_t limit = kMaxFileBytes);

// WriteFile, compressed where the path ends in ".gz".
absl::Status WriteOutput(const std::string& path, absl::string_view bytes);

// "-", or something that exists and is no regular file: /dev/null, a pipe.
bool IsStream(const std::string& path);

// The path without a ".gz" at its end: what says which format is inside.
absl::string_view WithoutGz(absl::string_view path);

}  // namespace toroid

#endif  // TOROID_HLO_BASE_FILES_H_
