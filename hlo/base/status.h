// Status plumbing: macros that pass errors on, and CHECK for broken invariants of our own.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#define TOROID_CONCAT_INNER(a, b) a##b
#define TOROID_CONCAT(a, b) TOROID_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression)                                       \
  do {                                                                    \
    if (absl::Status toroid_status = (expression); !toroid_status.ok()) { \
      return toroid_status;                                               \
    }                                                                     \
  } while (false)

#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_IMPL(TOROID_CONCAT(toroid_status_or_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_IMPL(result, declaration, expression) \
  auto result = (expression);                                  \
  if (!result.ok()) return result.status();                    \
  declaration = std::move(result).value()

// Ends the process when an invariant of this program, not of its input, is broken.
#define TOROID_CHECK(condition, ...)                                                           \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      std::fprintf(stderr, "%s:%d: broken invariant: %s %s\n", __FILE__, __LINE__, #condition, \
                   absl::StrCat(__VA_ARGS__).c_str());                                         \
      std::abort();                                                                            \
    }                                                                                          \
  } while (false)

namespace toroid {

// `status` with `context` and ": " put in front of its message.
inline absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

}  // namespace toroid
