// Errors of what would take more memory than a run may: they say what is too large and which limit it exceeds. How the
// limit is raised, whoever set it knows; a command adds its flag.
#ifndef TOROID_RUNTIME_MESH_LIMIT_ERROR_H_
#define TOROID_RUNTIME_MESH_LIMIT_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace toroid {

// kResourceExhausted, marked as an error of the memory limit.
absl::Status OverMemoryLimit(absl::string_view message);
bool IsOverMemoryLimit(const absl::Status& status);

// As Annotate (hlo/base/status.h), and the mark stays.
absl::Status AnnotateMarked(const absl::Status& status, absl::string_view context);

}  // namespace toroid

#endif  // TOROID_RUNTIME_MESH_LIMIT_ERROR_H_
