// Programs in formats that are not read, and how to make of them what is.
//
// StableHLO and MHLO text and bytecode, StableHLO portable artifacts, functions that jax.export wrote,
// jaxprs, TensorFlow saved models, archives of NumPy and PyTorch, folders. Example:
//
//   step.mlir: StableHLO text, which is not read; make HLO of it: python3 -c "from jax._src.lib import _jax; ..."
#ifndef TOROID_HLO_IO_FOREIGN_INPUT_H_
#define TOROID_HLO_IO_FOREIGN_INPUT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace toroid {

// What the content is and the command that makes the right file, one line without the path in front; nullopt
// if it is of no known kind. `path` names the file in the command, "-" standard input.
// Requires: the content is none of the formats that are read.
std::optional<std::string> DescribeForeign(absl::string_view bytes, const std::string& path);

// The same for a path that is a folder: of a saved model, of dumps (which file is the right one), or any.
std::optional<std::string> DescribeFolder(const std::string& path);

}  // namespace toroid

#endif  // TOROID_HLO_IO_FOREIGN_INPUT_H_
