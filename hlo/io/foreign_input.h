// Recognizes programs in formats that cannot be read, and tells how to convert them.
//
// MHLO and VHLO text, StableHLO and MHLO bytecode, StableHLO portable artifacts, functions that jax.export wrote,
// jaxprs, TensorFlow saved models, archives of NumPy and PyTorch, folders. Example:
//
//   step.mlirbc: MLIR bytecode, which is not read; make HLO of it: python3 -c "from jax._src.lib import ..."
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace toroid {

// Names the format and the command that converts it, in one line without a leading path; nullopt if the
// format is unknown. `path` names the file in the command; "-" is standard input.
// Requires: the content is in none of the readable formats.
std::optional<std::string> DescribeForeign(absl::string_view bytes, const std::string& path);

// The same for a folder: a saved model, a folder of dumps (names the right file in it), or any other.
std::optional<std::string> DescribeFolder(const std::string& path);

}  // namespace toroid
