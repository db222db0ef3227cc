// A kernel that calls another kernel, through an instruction of its own over the call's operands.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "hlo/ir/module.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Kept as a kernel's cache. Derived classes add the instruction in their constructor.
class OneOp : public KernelCache {
 public:
  // Runs the kernel on these operands, which it may overwrite.
  absl::Status Run(const MeshContext& mesh, std::vector<MeshBuffer> operands, MeshBuffer* result);

 protected:
  OneOp();
  Computation& computation() { return *module_.computation(0); }
  // Sets the instruction that Run executes, over parameters 0, 1, ..; `called` are the plans of its
  // computations.
  void Set(Kernel kernel, const Instruction& instruction, std::vector<Plan*> called = {});

 private:
  Module module_;
  Step step_;
};

}  // namespace toroid
