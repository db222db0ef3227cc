#include "runtime/mesh/limit_error.h"

#include <optional>

#include "absl/strings/cord.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr char kMark[] = "toroid/memory_limit";

}  // namespace

absl::Status OverMemoryLimit(absl::string_view message) {
  absl::Status status = absl::ResourceExhaustedError(message);
  status.SetPayload(kMark, absl::Cord());
  return status;
}

bool IsOverMemoryLimit(const absl::Status& status) { return status.GetPayload(kMark).has_value(); }

absl::Status AnnotateMarked(const absl::Status& status, absl::string_view context) {
  absl::Status annotated = Annotate(status, context);
  if (IsOverMemoryLimit(status)) annotated.SetPayload(kMark, absl::Cord());
  return annotated;
}

}  // namespace toroid
