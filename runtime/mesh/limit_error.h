// Errors for requests that exceed the memory limit of a run: they say what is too large, and which limit it
// exceeds. The caller that set the limit knows how to raise it; a command adds the name of its flag.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace toroid {

// kResourceExhausted, marked as an error of the memory limit.
absl::Status OverMemoryLimit(absl::string_view message);
bool IsOverMemoryLimit(const absl::Status& status);

// Like Annotate (hlo/base/status.h); keeps the mark.
absl::Status AnnotateMarked(const absl::Status& status, absl::string_view context);

}  // namespace toroid
