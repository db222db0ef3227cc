// Why a value is cut as it is: for each mesh axis that cuts it, the way from the value back to the annotation that names the
// axis.
//
// Example: w is annotated [{}, {"model"}]; h = tanh(x * w) is cut [{}, {"model"}].
//   {"model"} of h: from the product (through tanh), which has it from w (through dot), where the module asks for it.
#pragma once

#include <string>
#include <vector>

#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// One value on the way. The last one is where the axis begins.
struct OriginHop {
  int tensor = 0;
  int dim = 0;  // The dimension that the axis cuts.
  const Instruction* through =
      nullptr;  // The op by which the next value of the way handed the axis on; null: control flow.
};

struct AxisOrigin {
  enum class Kind {
    kAsked,     // The module asks for the last value's cut.
    kCheapest,  // The tensors of the last hop's op disagree; the axis is where the op is cheapest.
    kSearched,  // No rule hands the axis on: a search found that the program sends or computes less with it.
  };
  int dim = 0;
  AxisList axes;  // Neighbouring axes of the dimension with the same way.
  Kind kind = Kind::kAsked;
  std::vector<OriginHop> hops;  // The value itself first.
};

class Origins {
 public:
  // `plan`: what the tensors of the program are cut by in the end. Keeps references to both.
  Origins(const PreparedProgram& program, const ShardingPlan& plan);

  // The ways of all axes of a tensor, in the order of its dimensions.
  std::vector<AxisOrigin> Of(int tensor) const;

  // Why axes that a neighbour has do not cut a tensor.
  struct Refusal {
    int tensor = 0;  // The neighbour.
    int dim = 0;     // The dimension of the asked tensor.
    AxisList axes;   // Those of one dimension of the neighbour.
    const Instruction* through = nullptr;
    enum class Reason { kAskedOtherwise, kAxisInUse, kTooSmall, kNotHandedOn } reason = Reason::kNotHandedOn;
  };
  std::vector<Refusal> Refusals(int tensor) const;

 private:
  // What handed an axis on to a tensor; null if nothing did.
  const Growth* GrowthOf(int tensor, int axis) const;
  AxisOrigin Follow(int tensor, int dim, int axis) const;
  bool IsAsked(int tensor, int dim, int axis) const;
  bool Cuts(int tensor, int dim, int axis) const;

  const PreparedProgram& program_;
  const ShardingPlan& plan_;
  GrowthLog growths_;    // Of propagation: also where an op's cheapest assignment takes an axis.
  GrowthLog handed_on_;  // Along ops, in the order that is told; first.
  std::vector<absl::InlinedVector<int, 6>> touching_;  // By tensor: the ops with it, as numbers.
};

}  // namespace toroid
