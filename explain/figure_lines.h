// Lines that put figures of two programs side by side.
#pragma once

#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace toroid {

// "  +12.5 %", "  new", or "" for equal numbers.
inline std::string ChangeText(double now, double then) {
  if (now == then) return "";
  if (now == 0) return "  new";
  return absl::StrFormat("  %+.1f %%", 100 * (then - now) / now);
}

// "  sent              71.7 kB       16.4 kB  -77.1 %"
inline std::string FigureLine(absl::string_view what, const std::string& now, const std::string& then,
                              const std::string& change) {
  return absl::StrFormat("  %-12s%14s%14s%s\n", what, now, then, change);
}

}  // namespace toroid
