#include "simulator/compiler/fusion/fusion_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/work.h"
#include "hlo/base/status.h"
#include "hlo/ir/replace_instructions.h"
#include "hlo/passes/dce_pass.h"
#include "simulator/compiler/fusion/group_plan.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

class Fuser {
 public:
  Fuser(Computation* computation, const Tiling& tiling, GroupPlan plan)
      : computation_(computation),
        tiling_(tiling),
        n_(computation->size()),
        plan_(std::move(plan)),
        copy_(n_),
        stamp_(n_, 0) {}

  absl::StatusOr<bool> Run() {
    std::vector<Instruction*> now(n_, nullptr);
    bool changed = false;
    MarkRecorded(*computation_);
    for (const auto& group : plan_.groups) changed |= Fuse(group, &now);
    for (int i = 0; i < n_; ++i) {
      if (!plan_.renamed[i]) continue;
      Instruction* op = computation_->instruction(i);
      if (op->opcode() == Opcode::kSlice) continue;
      now[i] = computation_->Add(Opcode::kBitcast, op->shape(), {op->operand(0)}, op->name());
      now[i]->set_metadata(op->metadata());
      changed = true;
    }
    if (!changed) return false;
    RETURN_IF_ERROR(ReplaceInstructions(computation_, now));
    return true;
  }

 private:
  // Members of the group in order of their computation, into members_; arguments into leaves_.
  void Gather(const std::vector<Instruction*>& results);
  // All arrays of the results, of which copies were made inside.
  Instruction* TupleOf(const std::vector<Instruction*>& results, Computation* inside) const;
  bool Fuse(const std::vector<Instruction*>& results, std::vector<Instruction*>* now);

  Computation* computation_;
  const Tiling tiling_;
  const int n_;
  const GroupPlan plan_;
  std::vector<Instruction*> copy_;
  std::vector<int> stamp_;
  int time_ = 0;
  std::vector<Instruction*> members_, leaves_;
};

void Fuser::Gather(const std::vector<Instruction*>& results) {
  ++time_;
  members_.clear();
  leaves_.clear();
  std::vector<std::pair<Instruction*, int>> stack;
  absl::InlinedVector<int, 4> numbers;
  for (const Instruction* result : results) numbers.push_back(result->index());
  const auto enter = [&](Instruction* value, bool is_own) {
    if (stamp_[value->index()] == time_) return;
    const Opcode opcode = value->opcode();
    const bool is_small_constant = opcode == Opcode::kConstant && value->shape().rank() == 0;
    const bool is_in_memory =
        plan_.written[value->index()] || plan_.renamed[value->index()] || opcode == Opcode::kConstant ||
        opcode == Opcode::kParameter || opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement ||
        opcode == Opcode::kAfterAll || opcode == Opcode::kReplicaId || opcode == Opcode::kPartitionId;
    // Another name of what this group makes.
    const Instruction* source = value;
    while (plan_.renamed[source->index()]) source = source->operand(0);
    const bool is_name_of_own = source != value && absl::c_linear_search(numbers, source->index());
    const bool is_inside = is_own || is_small_constant || is_name_of_own || !is_in_memory;
    stamp_[value->index()] = time_;
    if (is_inside) {
      stack.push_back({value, 0});
    } else {
      leaves_.push_back(value);
    }
  };
  const auto is_own = [&](const Instruction* value) {
    return std::find(numbers.begin(), numbers.end(), value->index()) != numbers.end();
  };
  for (Instruction* result : results) {
    enter(result, true);
    while (!stack.empty()) {
      auto& [value, next] = stack.back();
      if (next < value->num_operands()) {
        Instruction* operand = value->operand(next++);
        enter(operand, is_own(operand));
        continue;
      }
      members_.push_back(value);
      stack.pop_back();
    }
  }
}

Instruction* Fuser::TupleOf(const std::vector<Instruction*>& results, Computation* inside) const {
  std::vector<Instruction*> elements;
  std::vector<Shape> shapes;
  for (const Instruction* result : results) {
    Instruction* copy = copy_[result->index()];
    if (!result->shape().IsTuple()) {
      elements.push_back(copy);
      shapes.push_back(result->shape());
      continue;
    }
    // A reduction of several arrays.
    for (size_t k = 0; k < result->shape().tuple_shapes().size(); ++k) {
      xla::HloInstructionProto* attrs;
      elements.push_back(
          inside->Add(Opcode::kGetTupleElement, result->shape().tuple_shape(k), {copy}, &attrs));
      attrs->set_tuple_index(static_cast<int64_t>(k));
      shapes.push_back(result->shape().tuple_shape(k));
    }
  }
  return inside->Add(Opcode::kTuple, Shape::Tuple(shapes), elements);
}

bool Fuser::Fuse(const std::vector<Instruction*>& results, std::vector<Instruction*>* now) {
  if (results.empty()) return false;
  Gather(results);
  int real = 0;
  const char* kind = "kLoop";
  for (const Instruction* member : members_) {
    real += member->opcode() != Opcode::kConstant;
    if (IsMatrixOp(member->opcode())) kind = "kOutput";
  }
  // A group of one op that does nothing is left out, unless it is a slice of an array's first tiles that the plan writes.
  if (real < 2 && !IsFirstOfTiles(*results[0], tiling_)) return false;
  Module* module = computation_->module();
  Computation* inside =
      module->AddComputation(absl::StrCat("fused_computation.", module->num_computations()));
  inside->set_is_fusion(true);
  for (Instruction* leaf : leaves_) {
    copy_[leaf->index()] =
        inside->AddParameter(leaf->shape(), absl::StrCat("param.", inside->num_parameters()));
  }
  std::vector<Instruction*> operands;
  for (const Instruction* member : members_) {
    operands.clear();
    for (const Instruction* operand : member->operands()) operands.push_back(copy_[operand->index()]);
    Instruction* copy = inside->AddClone(*member, member->shape(), operands);
    if (!member->called().empty()) copy->set_called(member->called());
    copy_[member->index()] = copy;
  }
  Instruction* root = results.size() == 1 ? copy_[results[0]->index()] : TupleOf(results, inside);
  const Shape shape = root->shape();
  inside->set_root(root);
  xla::HloInstructionProto* attrs;
  const std::string name =
      results[0]->name().empty() ? "fusion" : absl::StrCat(results[0]->name(), ".fusion");
  Instruction* fusion = computation_->Add(Opcode::kFusion, shape, leaves_, &attrs, name);
  attrs->set_fusion_kind(kind);
  fusion->set_called({inside});
  fusion->set_metadata(results[0]->metadata());
  fusion->set_cause(results[0]->cause());
  if (IsRecording()) {
    for (const Instruction* member : members_) MarkDecided(RulesMarkedOn(*member), fusion);
  }
  if (results.size() == 1) {
    (*now)[results[0]->index()] = fusion;
    return true;
  }
  int64_t number = 0;
  const auto part = [&](const Instruction* result, const Shape& of) {
    Instruction* element = computation_->Add(Opcode::kGetTupleElement, of, {fusion}, &attrs);
    attrs->set_tuple_index(number++);
    element->set_metadata(result->metadata());
    return element;
  };
  for (const Instruction* result : results) {
    if (!result->shape().IsTuple()) {
      (*now)[result->index()] = part(result, result->shape());
      continue;
    }
    std::vector<Instruction*> leaves;
    for (const Shape& of : result->shape().tuple_shapes()) leaves.push_back(part(result, of));
    (*now)[result->index()] = computation_->Add(Opcode::kTuple, result->shape(), leaves);
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> FusionPass::Run(std::unique_ptr<Module>* module) {
  // Reducers and the like stay as they are.
  std::vector<Computation*> run = {(*module)->entry()};
  for (const auto& computation : (*module)->computations()) {
    for (const auto& op : computation->instructions()) {
      if (!HasTrait(op->opcode(), kRunsBody)) continue;
      for (Computation* called : op->called()) run.push_back(called);
    }
  }
  std::sort(run.begin(), run.end(),
            [](const Computation* a, const Computation* b) { return a->index() < b->index(); });
  run.erase(std::unique(run.begin(), run.end()), run.end());
  bool changed = false;
  for (Computation* computation : run) {
    if (computation->is_fusion()) continue;
    GroupPlan plan = planner_ != nullptr ? planner_(*computation) : PlanGroups(*computation, tiling_);
    ASSIGN_OR_RETURN(const bool now, Fuser(computation, tiling_, std::move(plan)).Run());
    ForgetRecorded();
    changed |= now;
  }
  if (changed) EliminateDeadCode(module->get());
  return changed;
}

}  // namespace toroid
