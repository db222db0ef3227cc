// Names that differ by their numbers alone, as those of the layers of a model.
#pragma once

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace toroid {

// `name` without its digits: layers_0/dot.3 and layers_11/dot.41 have the same.
inline std::string WithoutNumbers(absl::string_view name) {
  std::string out;
  for (const char c : name) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) out += c;
  }
  return out;
}

}  // namespace toroid
