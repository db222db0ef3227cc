// How long a core takes for each group of a lowered module (simulator/compiler/lower.h).
//
// Cycles of a group without products, whose parts overlap:
//   group_cycles + max(D, V, X) + window_cycles x (number of windows that its bytes B fill, beyond the first)
//   + V / 2 / windows where memory is the longest: half of a window is worked on while the other half moves
//   D = B / stream,  stream = bytes_per_second x stream_efficiency / clock_hertz
//   V = slots of its ops / slots per cycle + cycles_per_register x registers + access_cycles x loads and stores
//   X = movement of elements within registers
// and of one with products: group_cycles + fill_cycles + TimeInWindows (matrix_work.h).
// Where TPU compilers give no estimate (gather, scatter, sort) this model assumes, as row_transfer_cycles and
// sort_stage_cycles of CoreSpec say: rows at indices are transfers of their own, one after the other; sorting is a bitonic
// network over registers.
// Groups that ask the same of the core are looked up, not computed again.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/instruction.h"
#include "simulator/chip/group_work.h"
#include "simulator/machines/core.pb.h"
#include "simulator/rules/rule.h"

namespace toroid {

// What a group would be faster with more of.
enum class Bound : uint8_t { kNothing, kMatrix, kVector, kMemory, kMovement, kLatency };

// "matrix", "vector", "memory", "movement", "latency", "".
absl::string_view BoundName(Bound bound);

struct GroupTime {
  int64_t picoseconds = 0;
  Bound bound = Bound::kNothing;
  double flops = 0;  // Of matrix units and vector unit, nothing padded or done twice.
  double bytes = 0;  // From and to memory, padded, as often as they move.
  // Cycles of each product of matrices in it, in the order of GroupWork::products.
  std::vector<double> product_cycles;
  // The longest of: flops at the peak of their unit, bytes of operands and results, unpadded, at memory's rate.
  int64_t roofline_picoseconds = 0;
};

// Multiplications and additions per second of all matrix units.
double PeakMatrixFlopsPerSecond(const CoreSpec& core);

class ChipModel {
 public:
  explicit ChipModel(const CoreSpec& core) : core_(core) {}

  // Of one instruction; zeros for what takes no time of its own (parameters, tuples, constants), and for calls, loops,
  // branches and collectives.
  const GroupTime& TimeOf(const Instruction& group);
  // The rules by which what the group asks of the core was counted.
  RuleSet RulesOf(const Instruction& group) const;
  const CoreSpec& core() const { return core_; }

 private:
  GroupTime Compute(const GroupWork& work) const;
  // How often the inner of two products is made: what windows of the outer one share, for each of as many as its operands and the results
  // fill, each of them twice.
  double TimesMade(const GroupWork& work) const;

  const CoreSpec core_;
  absl::flat_hash_map<GroupWork, GroupTime> known_;
};

}  // namespace toroid
