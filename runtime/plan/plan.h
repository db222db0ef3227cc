// A computation made ready to run: a flat list of steps over numbered slots, with the last use of every value
// known.
//
// Built once per computation (plan_builder.h); running it looks up no names and allocates nothing but
// results.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "hlo/ir/module.h"
#include "runtime/mesh/mesh_buffer.h"
#include "runtime/mesh/mesh_context.h"

namespace toroid {

class OpCall;
using Kernel = absl::Status (*)(OpCall& call);

// Data that a kernel keeps between calls.
struct KernelCache {
  virtual ~KernelCache() = default;
};

struct Plan;

struct Step {
  Kernel kernel = nullptr;
  // The kernel of the op on arrays of static sizes, which `kernel` may call on valid parts.
  Kernel static_kernel = nullptr;
  const Instruction* instruction = nullptr;
  int result = 0;
  absl::InlinedVector<int, 2> more_results;  // Slots of a group's further outputs.
  int instructions = 1;                      // That the step executes, called computations not counted.
  bool takes_element = false;                // See OpCall.
  bool handles_no_rows = false;              // The kernel works on a rank without active devices (rowless.h).
  uint64_t last_uses = 0;  // Bit i: operand i has no later use and stands only once among the operands.
  int64_t elements = 0;    // Per row of an array result.
  int64_t bytes = 0;
  absl::InlinedVector<int, 3> operands;  // Slots.
  absl::InlinedVector<int, 2> frees;     // Slots not needed after this step.
  double work = 0;  // Called computations included; 0 before EstimateWork (../engine/plan_builder.h).
  std::vector<Plan*> called;
  std::unique_ptr<KernelCache> cache;
};

// Values of one activation, by slot.
using Frame = std::vector<MeshBuffer>;

struct Plan {
  const Computation* computation = nullptr;
  std::vector<Step> steps;
  // The instruction that gives each slot its value. Calls are part of the plan: so are their instructions.
  std::vector<const Instruction*> values;
  std::vector<int> parameters;  // Slots, by parameter number.
  std::vector<bool> parameter_used;
  int root = 0;
  bool root_is_constant = false;
  Frame constants;  // A frame that holds the constants alone.
  std::vector<int> constant_slots;
  double work = 0;  // Sum over the steps; 0 before EstimateWork.
  std::vector<std::unique_ptr<Frame>> idle_frames;
};

}  // namespace toroid
