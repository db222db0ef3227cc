// Gzip-compressed files, recognized by their content.
//
// Source: RFC 1952.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace toroid {

// Whether the bytes begin like a gzip file.
bool IsGzip(absl::string_view bytes);

// The content of a gzip file of one or several members; zeros behind the last are padding. Takes memory in
// proportion to the actual content. The content may itself be compressed: see ReadInput.
// Errors: kInvalidArgument for data that is damaged, cut short or followed by something else;
//         kResourceExhausted if the content has `limit` bytes or more.
absl::StatusOr<std::string> Gunzip(absl::string_view bytes, size_t limit = size_t{1} << 31);

// The same bytes for the same content: no time and no name are recorded.
// Errors: kResourceExhausted if memory runs out.
absl::StatusOr<std::string> Gzip(absl::string_view content);

}  // namespace toroid
