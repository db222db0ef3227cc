// Findings about a partitioned program.
//
// Replications: arrays that were cut and had to be replicated.
//
// Cuts: parameters, outputs and annotated values in unequal parts, and shardings that are asked for and that no array of the
// program has.
//
// f32[17] over 8 devices has shards of 3 elements: the devices hold 3, 3, 3, 3, 3, 2, 0 and 0 elements, and padding
// after them. A constant or an iota whose consumers all need the whole array is made whole, whatever its sharding says.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/analysis/liveness.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/base/math.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/rewrite/rewriters.h"

namespace toroid {
namespace {

// True if the op can run on shards of the operand that are cut in any dimension.
bool CanTakeParts(const FlowOp& op, size_t operand) {
  for (const DimFactors& dim : op.rule->operands[operand]) {
    if (dim.size == 0) return false;
    for (int i = 0; i < dim.size; ++i) {
      if (!CanCutLocally(*op.instruction, op.rule->factors[dim.factor[i]].kind)) return false;
    }
  }
  return true;
}

bool IsCutBefore(const RewriteState& state, int tensor) {
  const auto versions = state.values.versions(tensor);
  if (!state.graph.shape(tensor).IsArray() || state.values.IsRematerializable(tensor) || versions.empty()) {
    return false;
  }
  // The first version is the one the value was computed in; versions fetched for the op come later.
  return versions.front().sharding.DimAxes() != 0;
}

// "dimension 0 over 8 devices in shards of 3: 5 full, 1 of 2, 2 of padding alone".
std::string UnevenText(int d, int64_t size, int64_t devices) {
  const int64_t shard = CeilOfRatio(size, devices), full = size / shard, rest = size % shard;
  const int64_t empty = devices - full - (rest > 0 ? 1 : 0);
  std::string text =
      absl::StrCat("dimension ", d, " over ", devices, " devices in shards of ", shard, ": ", full, " full");
  if (rest > 0) absl::StrAppend(&text, ", 1 of ", rest);
  if (empty > 0) absl::StrAppend(&text, ", ", empty, " of padding alone");
  return text;
}

class Finder {
 public:
  explicit Finder(const RewriteState& state) : state_(state), frames_(state.module) {}

  std::vector<CutNote> Find() {
    for (const Instruction* parameter : state_.module.entry()->parameters()) {
      for (const int t : state_.graph.Leaves(*parameter)) {
        if (noted_.insert(t).second)
          NoteUneven(*parameter, state_.names.NameOf(*parameter), t, state_.plan[t]);
      }
    }
    for (const auto& computation : state_.module.computations()) {
      if (!state_.graph.Reached(*computation)) continue;
      for (const auto& instruction : computation->instructions()) {
        for (const int t : state_.graph.Leaves(*instruction)) {
          if (state_.annotations.tensor[t] && noted_.insert(t).second) NoteAsked(*instruction, t);
        }
      }
    }
    const Instruction& root = *state_.module.entry()->root();
    for (size_t i = 0; i < state_.graph.outputs().size(); ++i) {
      const int t = state_.graph.outputs()[i];
      NoteUneven(root, state_.names.OutputName(static_cast<int>(i)), t, state_.plan[t]);
    }
    return std::move(notes_);
  }

 private:
  void NoteAsked(const Instruction& instruction, int t) {
    const Annotation& annotation = *state_.annotations.tensor[t];
    const Sharding& asked = annotation.sharding;
    // Propagation may cut open dimensions as it likes.
    if (!state_.graph.shape(t).IsArray() || (asked.DimAxes() == 0 && annotation.closed == 0)) return;
    std::vector<Sharding> needed = Needed(t);
    // The versions of a loop's state are forgotten after the loop. It has the plan's sharding in every trip.
    if (needed.empty() && !state_.values.IsRematerializable(t)) needed = {state_.plan[t]};
    const auto any = [&](auto predicate) { return std::any_of(needed.begin(), needed.end(), predicate); };
    if (any([&](const Sharding& sharding) { return Follows(sharding, annotation); })) {
      return NoteUneven(instruction, state_.names.NameOf(instruction), t, asked);
    }
    if (asked.DimAxes() == 0 && needed.empty()) return;
    Add(instruction, state_.names.NameOf(instruction), t,
        absl::StrCat("asked for ", state_.names.Text(asked), ": ", WhatIsInstead(needed)),
        /*is_obeyed=*/false);
  }

  // Whether the sharding has the cuts that are asked for, and no others in dimensions that are closed.
  static bool Follows(const Sharding& sharding, const Annotation& annotation) {
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
      const AxisList& asked = annotation.sharding.dims[d];
      const bool closed = annotation.closed >> d & 1;
      if (closed ? sharding.dims[d] != asked : !asked.IsPrefixOf(sharding.dims[d])) return false;
    }
    return sharding.partial == annotation.sharding.partial;
  }

  std::string WhatIsInstead(const std::vector<Sharding>& needed) const {
    if (needed.empty()) return "every device makes the part that it needs";
    std::vector<std::string> instead;
    for (const Sharding& sharding : needed) {
      if (sharding.DimAxes() == 0 && sharding.partial == 0) return "every device makes all of it";
      instead.push_back(state_.names.Text(sharding));
    }
    return absl::StrCat("all that read it take ", absl::StrJoin(instead, " or "));
  }

  // The shardings of the versions of a tensor that some instruction of the output needs.
  std::vector<Sharding> Needed(int t) {
    std::vector<Sharding> needed;
    for (const ShardedValues::Version& version : state_.values.versions(t)) {
      if (!state_.values.IsRematerializable(t) || IsNeeded(version.local)) needed.push_back(version.sharding);
    }
    return needed;
  }

  bool IsNeeded(const Instruction* local) {
    if (needed_.empty()) {
      const SideEffects side_effects(*state_.out);
      for (const auto& computation : state_.out->computations()) {
        const std::vector<bool> needed = NeededInstructions(*computation, side_effects);
        for (const auto& instruction : computation->instructions()) {
          if (needed[instruction->index()]) needed_.insert(instruction.get());
        }
      }
    }
    return needed_.contains(local);
  }

  void NoteUneven(const Instruction& instruction, std::string name, int t, const Sharding& sharding) {
    const Shape& shape = state_.graph.shape(t);
    if (!shape.IsArray()) return;
    for (int d = 0; d < shape.rank(); ++d) {
      const int64_t devices = state_.mesh.Product(sharding.dims[d]);
      if (shape.dim(d) == 0 || shape.dim(d) % devices == 0) continue;
      Add(instruction, name, t, UnevenText(d, shape.dim(d), devices), /*is_obeyed=*/true);
    }
  }

  void Add(const Instruction& instruction, const std::string& name, int t, const std::string& text,
           bool is_obeyed) {
    notes_.push_back(
        {is_obeyed, name, state_.graph.shape(t).ToString(), text, frames_.LineOf(instruction.metadata())});
  }

  const RewriteState& state_;
  SourceFrames frames_;
  absl::flat_hash_set<int> noted_;
  absl::flat_hash_set<const Instruction*>
      needed_;  // Instructions of the output; filled by the first IsNeeded.
  std::vector<CutNote> notes_;
};

}  // namespace

bool IsNeedlessGather(const FlowOp& op, size_t operand, const Assignment& assignment, AxisSet gathered) {
  AxisSet used = 0;
  for (const AxisList& axes : assignment.factor_axes) used |= axes.Set();
  if (used == 0) return false;  // No axis cuts the op: BytesComputedEverywhere reports it.
  return (gathered & ~used) != 0 && CanTakeParts(op, operand);
}

std::optional<int64_t> BytesComputedEverywhere(const RewriteState& state, const FlowOp& op,
                                               const Assignment& assignment) {
  for (const AxisList& axes : assignment.factor_axes) {
    if (!axes.empty()) return std::nullopt;
  }
  // If a result is partial, the devices share the op's work.
  for (const int t : op.results) {
    if (state.values.IsPartial(t)) return std::nullopt;
  }
  std::optional<int64_t> bytes;
  const auto add = [&](int t) { bytes = bytes.value_or(0) + state.graph.shape(t).ByteSize(); };
  for (const int t : op.operands) {
    if (IsCutBefore(state, t)) add(t);
  }
  for (const int t : op.results) {
    if (state.graph.shape(t).IsArray() && state.plan[t].DimAxes() != 0) add(t);
  }
  return bytes;
}

void AddOverruledShardings(const PreparedProgram& program, ReplicationLog* log) {
  const FlowGraph& graph = *program.graph;
  std::vector<bool> told(graph.num_tensors(), false);
  const auto tell = [&](const Instruction& instruction, int t) {
    const std::optional<Annotation>& annotation = program.annotations.tensor[t];
    if (told[t] || !annotation || !annotation->overruled) return;
    told[t] = true;
    log->Add(instruction, graph.shape(t).ByteSize(),
             "its sharding cuts an array of run-time size, which stays replicated");
  };
  for (const auto& computation : program.flat->computations()) {
    if (!graph.Reached(*computation)) continue;
    for (const auto& instruction : computation->instructions()) {
      for (const int t : graph.Leaves(*instruction)) tell(*instruction, t);
    }
  }
  for (const int t : graph.outputs()) tell(*program.flat->entry()->root(), t);
}

std::vector<CutNote> FindCuts(const RewriteState& state) { return Finder(state).Find(); }

}  // namespace toroid
