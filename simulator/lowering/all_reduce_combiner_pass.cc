#include "simulator/lowering/all_reduce_combiner_pass.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"

namespace toroid {
namespace {

// What those that may be combined agree in; empty for one that stays alone.
std::string KeyOf(const Instruction& op, int level) {
  const bool is_plain = op.opcode() == Opcode::kAllReduce && op.num_operands() == 1 && op.shape().IsArray() &&
                        op.called().size() == 1 && op.called(0)->root() != nullptr && op.called(0)->size() == 3 &&
                        op.control_predecessors().empty();
  if (!is_plain) return "";
  xla::HloInstructionProto attrs = op.attrs();
  const bool has_channel = attrs.channel_id() != 0;
  attrs.clear_channel_id();
  return absl::StrCat(level, "|", op.called(0)->root()->opcode_name(), "|", static_cast<int>(op.shape().element_type()), "|",
                      has_channel, "|", attrs.SerializeAsString());
}

absl::StatusOr<bool> Combine(Computation* computation) {
  const int n = computation->size();
  std::vector<int> level(n, 0);
  absl::btree_map<std::string, std::vector<Instruction*>> alike;
  for (int i = 0; i < n; ++i) {
    Instruction* op = computation->instruction(i);
    for (const Instruction* operand : op->operands()) level[i] = std::max(level[i], level[operand->index()]);
    for (const Instruction* before : op->control_predecessors()) level[i] = std::max(level[i], level[before->index()]);
    if (op->opcode() != Opcode::kAllReduce) continue;
    const std::string key = KeyOf(*op, level[i]);
    if (!key.empty()) alike[key].push_back(op);
    ++level[i];
  }
  std::vector<Instruction*> now(n, nullptr);
  bool changed = false;
  for (const auto& [key, ops] : alike) {
    if (ops.size() < 2) continue;
    std::vector<Instruction*> operands;
    std::vector<Shape> shapes;
    for (const Instruction* op : ops) {
      operands.push_back(op->operand(0));
      shapes.push_back(op->shape());
    }
    Instruction* all = computation->AddClone(*ops[0], Shape::Tuple(shapes), operands);
    all->set_name(ops[0]->name());
    all->set_called(ops[0]->called());
    all->set_cause(ops[0]->cause());
    for (size_t k = 0; k < ops.size(); ++k) {
      xla::HloInstructionProto* attrs;
      now[ops[k]->index()] = computation->Add(Opcode::kGetTupleElement, ops[k]->shape(), {all}, &attrs);
      attrs->set_tuple_index(static_cast<int64_t>(k));
      if (k > 0) now[ops[k]->index()]->set_name(ops[k]->name());  // The first gave its name to all.
    }
    changed = true;
  }
  if (!changed) return false;
  ReplaceUses(computation, now);
  for (int i = n; i < computation->size(); ++i) {
    Instruction* op = computation->instruction(i);
    for (int k = 0; k < op->num_operands(); ++k) {
      const int o = op->operand(k)->index();
      if (o < n && now[o] != nullptr) op->set_operand(k, now[o]);
    }
  }
  std::vector<bool> keep(computation->size(), true);
  for (int i = 0; i < n; ++i) keep[i] = now[i] == nullptr;
  computation->Keep(keep);
  RETURN_IF_ERROR(SortInstructions(computation));
  return true;
}

}  // namespace

absl::StatusOr<bool> AllReduceCombinerPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    ASSIGN_OR_RETURN(const bool now, Combine(computation.get()));
    changed |= now;
  }
  return changed;
}

}  // namespace toroid
