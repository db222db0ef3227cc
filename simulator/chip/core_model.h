// How long a core takes for a group of instructions: what models answer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo/ir/instruction.h"
#include "simulator/machines/core.pb.h"
#include "simulator/rules/rule.h"

namespace toroid {

// The unit that, were it faster, would make the group faster.
enum class Bound : uint8_t { kNothing, kMatrix, kVector, kMemory, kMovement, kLatency };

// "matrix", "vector", "memory", "movement", "latency", "".
absl::string_view BoundName(Bound bound);

// Where the time of a custom call is from: its operands and results alone, what the model knows of it, its author's estimate
// in the program, or what the user gives.
enum class KernelCostSource : uint8_t { kBytes, kModel, kEstimate, kGiven };

struct GroupTime {
  int64_t picoseconds = 0;
  Bound bound = Bound::kNothing;
  double flops = 0;  // Of matrix units and vector unit, nothing padded or done twice.
  double bytes = 0;  // From and to memory, padded, as often as they move.
  // For matrix units, vector unit, memory and movement: what each takes if it waits for nothing.
  std::array<int64_t, 4> unit_picoseconds = {};
  double windows = 1;  // Of on-chip memory, in which the group passes.
  // Cycles of each product of matrices in it, in the order of GroupWork::products.
  std::vector<double> product_cycles;
  KernelCostSource kernel_cost = KernelCostSource::kBytes;
  // The longest of: flops at the peak of their unit, bytes of operands and results, unpadded, at memory's rate.
  int64_t roofline_picoseconds = 0;
};

// Multiplications and additions per second of all matrix units.
double PeakMatrixFlopsPerSecond(const CoreSpec& core);

// Bytes per second of a long stream from or to memory.
double StreamBytesPerSecond(const CoreSpec& core);

// A model of a core, of which there are two: chip_model.h, simulator/simple/simple_core.h.
class CoreModel {
 public:
  virtual ~CoreModel() = default;
  // Of one instruction of the lowered module; zeros for what takes no time of its own (parameters, tuples, constants), and for
  // calls, loops, branches and collectives.
  virtual const GroupTime& TimeOf(const Instruction& group) = 0;
  // The rules by which what the group asks of the core was counted, if the model has any.
  virtual RuleSet RulesOf(const Instruction& group) const = 0;
};

}  // namespace toroid
