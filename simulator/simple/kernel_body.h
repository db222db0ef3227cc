// What a Pallas kernel says of itself: its name, its grid and the blocks of arrays that one step of the grid works on.
//
// A custom call `tpu_custom_call` carries its kernel in its backend config, {"custom_call_config": {"body": ...}}, base64 of
// MLIR bytecode. Read are the attributes of the kernel's function: sym_name, iteration_bounds, window_params[i].window_bounds.
// Source: the bytecode format of MLIR (mlir.llvm.org/docs/BytecodeFormat), and the builtin dialect's codes in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo/ir/instruction.h"

namespace toroid {

struct KernelBody {
  std::string name;
  std::vector<int64_t> grid;  // -1: known when it runs.
  std::vector<std::vector<int64_t>>
      windows;  // Of operands and results that are cut into blocks, in their order.
};

// True for a custom call that runs a kernel from its backend config.
bool IsTpuKernel(const Instruction& op);

// The kernel of an IsTpuKernel call; nullopt if its config has none, or one that cannot be read.
std::optional<KernelBody> ReadKernelBody(const Instruction& call);

// Of bytecode.
std::optional<KernelBody> ParseKernelBody(absl::string_view bytecode);

}  // namespace toroid
