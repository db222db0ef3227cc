#include "simulator/lowering/all_reduce_combiner_pass.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/replace_instructions.h"

namespace toroid {
namespace {

// Of one combined all-reduce. In training steps that Google's compiler for TPU v3 combined, sums of sizes come to 120 MiB
// wherever the arrays allow, and never to more: four times what XLA combines by default elsewhere.
constexpr int64_t kMostCombinedBytes = int64_t{120} << 20;

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

// In the order of the list, as many at a time as stay within the limit; one that exceeds it is alone.
std::vector<absl::Span<Instruction* const>> Portions(absl::Span<Instruction* const> ops, int64_t most_bytes) {
  std::vector<absl::Span<Instruction* const>> portions;
  size_t first = 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    const int64_t more = ops[i]->shape().ByteSize();
    if (i > first && bytes > most_bytes - more) {
      portions.push_back(ops.subspan(first, i - first));
      first = i;
      bytes = 0;
    }
    bytes = SaturatingAdd(bytes, more);
  }
  if (first < ops.size()) portions.push_back(ops.subspan(first));
  return portions;
}

// One all-reduce in place of all `ops`; what becomes of each in `now`, by index.
void CombineAll(absl::Span<Instruction* const> ops, std::vector<Instruction*>* now) {
  Computation* computation = ops[0]->computation();
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
    Instruction* element = computation->Add(Opcode::kGetTupleElement, ops[k]->shape(), {all}, &attrs);
    attrs->set_tuple_index(static_cast<int64_t>(k));
    if (k > 0) element->set_name(ops[k]->name());  // The first gave its name to all.
    (*now)[ops[k]->index()] = element;
  }
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
    for (const absl::Span<Instruction* const> portion : Portions(ops, kMostCombinedBytes)) {
      if (portion.size() < 2) continue;
      CombineAll(portion, &now);
      changed = true;
    }
  }
  if (!changed) return false;
  absl::flat_hash_set<const Instruction*> replaced;
  for (int i = 0; i < n; ++i) {
    if (now[i] != nullptr) replaced.insert(computation->instruction(i));
  }
  RETURN_IF_ERROR(ReplaceInstructions(computation, now));
  std::vector<bool> keep(computation->size());
  for (int i = 0; i < computation->size(); ++i) keep[i] = !replaced.contains(computation->instruction(i));
  computation->Keep(keep);
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
