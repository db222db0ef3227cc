// One computation without what moves or computes nothing, for simplify_pass.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/builder/neutral_element.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/native_types.h"
#include "hlo/ir/unit_dims.h"
#include "hlo/passes/dce_pass.h"
#include "simulator/compiler/rewrites/reshape_cancellation.h"
#include "simulator/compiler/rewrites/transposed_operands.h"
#include "simulator/program/columns.h"
#include "simulator/program/elementwise.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

// Equal values become one only before barriers are gone: what stands behind one is computed a second time on purpose.
enum class Round { kMerges, kRemovesBarriers };

// A float that is everywhere the same; nullopt if it is not, or not told by the program.
std::optional<double> SplatOf(const Instruction* value);

// One computation, from its first instruction to its last.
class Simplifier {
 public:
  // `texts`: what computations compute, for those that may be told to be equal.
  Simplifier(Computation* computation, const std::vector<std::string>& texts, Round round, bool is_second,
             const Tiling& tiling)
      : computation_(computation), texts_(texts), round_(round), is_second_(is_second), tiling_(tiling) {}

  absl::StatusOr<bool> Run();

 private:
  Instruction* Now(const Instruction* value) const {
    return value->index() < static_cast<int>(now_.size()) ? now_[value->index()] : nullptr;
  }

  // Whether the rule holds; it is the one that made what is made next.
  bool Uses(Rule rule) {
    rule_ = rule;
    return IsOn(rule);
  }
  Instruction* Simplified(Instruction* op);
  Instruction* SimplifiedReshape(Instruction* reshape);
  Instruction* SimplifiedTranspose(Instruction* transpose);
  Instruction* SimplifiedBroadcast(Instruction* broadcast);
  Instruction* SimplifiedReduce(Instruction* reduce);
  Instruction* ReduceOfReduce(Instruction* reduce);
  Instruction* SimplifiedSlice(Instruction* slice);
  Instruction* CutByPad(Instruction* pad);
  Instruction* MadeOfColumns(Instruction* op);
  Instruction* SimplifiedConvert(Instruction* convert);
  Instruction* SameAsBefore(Instruction* op);
  Instruction* WithoutNeutral(Instruction* op);

  Instruction* Reshape(const Instruction& like, Instruction* x) {
    if (x->shape().Compatible(like.shape())) return x;
    Instruction* reshape = computation_->Add(Opcode::kReshape, like.shape(), {x});
    reshape->set_metadata(like.metadata());
    return reshape;
  }

  Computation* computation_;
  const std::vector<std::string>& texts_;
  const Round round_;
  const bool is_second_;  // What is the same was merged before, so that readers are counted.
  const Tiling tiling_;
  std::vector<Instruction*> now_;
  std::vector<int> readers_;                        // By index.
  absl::flat_hash_map<size_t, Instruction*> seen_;  // By hash; of several the first.
  std::string scratch_;
  Rule rule_ = Rule::kMovesJoin;
  bool changed_ = false;
};

}  // namespace toroid
