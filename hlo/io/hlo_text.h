// HLO text <-> Module.
//
// Reads what compilers print in any of their styles: with or without `%`, operand shapes, signatures, header,
// layouts; attributes in any order; to_apply bodies written in place; `OP-start` for async-start around an
// OP; a single instruction alone, whose operands become parameters. Printing gives text that reads back to
// the same module.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors: kInvalidArgument "LINE:COL: what is wrong" (both count from 1). The verifier, not the parser,
// checks operand counts, shapes and attribute values. Memory and time are proportional to the text; nesting
// is bounded.
// A harmless contradiction is a warning, "LINE:COL: warning: what": a signature or an
// entry_computation_layout that differs from the body. The body counts.
absl::StatusOr<std::unique_ptr<Module>> ParseModule(absl::string_view text,
                                                    std::vector<std::string>* warnings = nullptr);

struct PrintOptions {
  bool percent = false;         // % before names
  bool signatures = false;      // parameters and result behind a computation's name
  bool operand_shapes = false;  // a shape before each operand
  bool layouts = true;
  bool metadata = true;  // and stack-frame tables
  bool backend_configs = true;
  // Constants with more elements are printed as `constant({...})`.
  int64_t max_constant_elements = std::numeric_limits<int64_t>::max();
};

// Missing and repeated names are replaced; characters that are invalid in names become `_`.
std::string PrintModule(const Module& module, const PrintOptions& options = {});
// One line, without a newline.
std::string PrintInstruction(const Instruction& instruction, const PrintOptions& options = {});

}  // namespace toroid
