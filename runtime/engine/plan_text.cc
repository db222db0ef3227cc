#include "runtime/engine/plan_text.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/analysis/work.h"
#include "hlo/base/text_table.h"
#include "runtime/engine/peak_estimate.h"
#include "runtime/groups/run_group.h"
#include "runtime/moves/run_move.h"

namespace toroid {
namespace {

// Bytes of the input that a source node reads.
int64_t BytesRead(const GroupNode& source) {
  int64_t elements = 1;
  for (const View::Dim& dim : source.view.dims) elements *= dim.stride == 0 ? 1 : dim.size;
  return elements * ByteWidth(source.type);
}

int64_t ElementsRead(const Box& box) {
  int64_t elements = 1;
  for (size_t d = 0; d < box.size.size(); ++d) elements *= box.strides[d] == 0 ? 1 : box.size[d];
  return elements;
}

int64_t Flops(const Instruction& instruction) {
  const Work work = WorkOf(instruction);
  return work.matrix_flops + work.vector_flops;
}

void Collect(const Plan& plan, absl::flat_hash_set<const Plan*>& seen, std::vector<const Plan*>& order) {
  if (!seen.insert(&plan).second) return;
  order.push_back(&plan);
  for (const Step& step : plan.steps) {
    for (const Plan* callee : step.called) Collect(*callee, seen, order);
  }
}

std::string StepLine(const Step& step) {
  const StepCost cost = CostOf(step);
  std::string text = absl::StrCat("  ", KindText(step), "  ", NameText(step), "  reads ",
                                  BytesText(cost.bytes_read), ", writes ", BytesText(cost.bytes_written));
  for (const Plan* callee : step.called) absl::StrAppend(&text, ", calls ", callee->computation->name());
  return text;
}

}  // namespace

StepCost CostOf(const Step& step) {
  StepCost cost;
  if (const Move* move = MoveOf(step)) {
    const int64_t width = ByteWidth(step.instruction->shape().element_type());
    for (const Box& box : move->boxes) cost.bytes_read += ElementsRead(box) * width;
    if (!move->is_operand) cost.bytes_written = step.bytes;
    return cost;
  }
  const Group* group = GroupOf(step);
  if (group == nullptr) {
    const Work work = WorkOf(*step.instruction);
    return {work.bytes_read, work.bytes_written, work.matrix_flops + work.vector_flops};
  }
  for (const GroupNode& node : group->nodes) {
    if (node.kind == GroupNode::Kind::kSource) cost.bytes_read += BytesRead(node);
    if (node.instruction != nullptr) cost.flops += Flops(*node.instruction);
  }
  for (const Group::Output& output : group->outputs) cost.bytes_written += output.bytes;
  return cost;
}

std::string KindText(const Step& step) {
  if (MoveOf(step) != nullptr) return absl::StrCat("move of ", step.instructions);
  if (GroupOf(step) == nullptr) return std::string(step.instruction->opcode_name());
  return absl::StrCat("group of ", step.instructions);
}

std::string NameText(const Step& step) {
  // A program that was made here, not read, may have no names.
  const auto name_of = [](const Instruction& instruction) {
    return instruction.name().empty() ? std::string(instruction.opcode_name()) : instruction.name();
  };
  const Group* group = GroupOf(step);
  if (group == nullptr) return name_of(*step.instruction);
  const Instruction* first = nullptr;
  for (const GroupNode& node : group->nodes) {
    if (node.instruction == nullptr) continue;
    first = node.instruction;
    break;
  }
  if (first == nullptr || first == step.instruction) return name_of(*step.instruction);
  return absl::StrCat(name_of(*first), " .. ", name_of(*step.instruction));
}

std::string PlanText(const Plan& entry) {
  absl::flat_hash_set<const Plan*> seen;
  std::vector<const Plan*> order;
  Collect(entry, seen, order);
  int64_t instructions = 0, steps = 0;
  for (const Plan* plan : order) {
    for (const Step& step : plan->steps) instructions += step.instructions;
    steps += static_cast<int64_t>(plan->steps.size());
  }
  std::string text =
      absl::StrCat(CountText(instructions), instructions == 1 ? " instruction" : " instructions", " in ",
                   CountText(steps), steps == 1 ? " step" : " steps", "; at least ",
                   BytesText(EstimatePeak(entry, {}, 1).bytes), " of values on a device\n");
  for (const Plan* plan : order) {
    absl::StrAppend(&text, plan->computation->name(), "\n");
    for (const Step& step : plan->steps) {
      absl::StrAppend(&text, StepLine(step), "\n");
      std::string inside;
      if (const Group* group = GroupOf(step)) inside = ToString(*group);
      if (const Move* move = MoveOf(step)) inside = ToString(*move);
      for (const absl::string_view line : absl::StrSplit(inside, '\n', absl::SkipEmpty())) {
        absl::StrAppend(&text, "      ", line, "\n");
      }
    }
  }
  return text;
}

}  // namespace toroid
