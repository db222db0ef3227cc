#include "simulator/compiler/rewrites/simplify_pass.h"

#include "simulator/compiler/rewrites/simplifier.h"

namespace toroid {

std::optional<double> SplatOf(const Instruction* value) {
  if (value->opcode() == Opcode::kBroadcast) value = value->operand(0);
  const PrimitiveType type = value->shape().element_type();
  if (value->opcode() != Opcode::kConstant || value->shape().rank() != 0 ||
      (type != xla::F32 && type != xla::BF16)) {
    return std::nullopt;
  }
  const absl::StatusOr<Literal> literal = LiteralOf(*value);
  if (!literal.ok()) return std::nullopt;
  return type == xla::F32 ? static_cast<double>(literal->data<float>()[0])
                          : static_cast<double>(literal->data<bfloat16>()[0]);
}

absl::StatusOr<bool> Simplifier::Run() {
  const int n = computation_->size();
  now_.assign(n, nullptr);
  readers_.assign(n, 0);
  for (const auto& op : computation_->instructions()) {
    for (const Instruction* operand : op->operands()) {
      ++readers_[operand->index()];
    }
  }
  for (int i = 0; i < n; ++i) {
    Instruction* op = computation_->instruction(i);
    for (int k = 0; k < op->num_operands(); ++k) {
      if (Instruction* other = Now(op->operand(k))) op->set_operand(k, other);
    }
    Instruction* simple = Simplified(op);
    if (simple == nullptr && is_second_ && IsElementwise(*op) && Uses(Rule::kColumnsAreWorkedOn))
      simple = MadeOfColumns(op);
    if (simple != nullptr && simple != op && simple->opcode() != Opcode::kParameter)
      MarkDecided(rule_, simple);
    if (simple == nullptr && round_ == Round::kMerges && IsOn(Rule::kEqualValuesMerge))
      simple = SameAsBefore(op);
    if (simple == nullptr || simple == op) continue;
    now_[i] = simple;
    changed_ = true;
  }
  if (!changed_) return false;
  // Entries of `now_` may be replaced themselves, by what stands before them.
  ReplaceUses(computation_, now_);
  RETURN_IF_ERROR(SortInstructions(computation_));
  return true;
}

Instruction* Simplifier::Simplified(Instruction* op) {
  switch (op->opcode()) {
    case Opcode::kReshape:
      return SimplifiedReshape(op);
    case Opcode::kTranspose:
      return SimplifiedTranspose(op);
    case Opcode::kBroadcast:
      return SimplifiedBroadcast(op);
    case Opcode::kSlice:
      return SimplifiedSlice(op);
    case Opcode::kDot:
      return Uses(Rule::kTransposedOperands) ? WithoutTransposedOperand(*op, computation_) : nullptr;
    case Opcode::kPad:
      return Uses(Rule::kPadsThatCut) ? CutByPad(op) : nullptr;
    case Opcode::kConvert:
      if (Instruction* simple = SimplifiedConvert(op)) return simple;
      [[fallthrough]];
    case Opcode::kCopy:
      return op->operand(0)->shape().Compatible(op->shape()) && Uses(Rule::kMovesJoin) ? op->operand(0)
                                                                                       : nullptr;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAdd:
    case Opcode::kMultiply:
      return Uses(Rule::kNeutralElements) ? WithoutNeutral(op) : nullptr;
    case Opcode::kReduce:
      return SimplifiedReduce(op);
    case Opcode::kGetTupleElement:
      return op->operand(0)->opcode() == Opcode::kTuple && op->tuple_index() < op->operand(0)->num_operands()
                 ? op->operand(0)->operand(op->tuple_index())
                 : nullptr;
    case Opcode::kOptimizationBarrier:
      return round_ == Round::kRemovesBarriers ? op->operand(0) : nullptr;
    case Opcode::kCustomCall: {
      // What says in which memory an array lies is kept: those on the host take nothing of the device's.
      return op->custom_call_target() == "Sharding" && op->num_operands() == 1 &&
                     op->operand(0)->shape().Compatible(op->shape())
                 ? op->operand(0)
                 : nullptr;
    }
    default:
      return nullptr;
  }
}

Instruction* Simplifier::WithoutNeutral(Instruction* op) {
  const Opcode opcode = op->opcode();
  const double infinity = std::numeric_limits<double>::infinity();
  const double neutral = opcode == Opcode::kMaximum   ? -infinity
                         : opcode == Opcode::kMinimum ? infinity
                         : opcode == Opcode::kAdd     ? 0
                                                      : 1;
  for (int k = 0; k < 2; ++k) {
    if (!op->operand(1 - k)->shape().Compatible(op->shape())) continue;
    if (SplatOf(op->operand(k)) == neutral) return op->operand(1 - k);
  }
  return nullptr;
}

Instruction* Simplifier::SameAsBefore(Instruction* op) {
  const Opcode opcode = op->opcode();
  if (opcode == Opcode::kParameter || opcode == Opcode::kCustomCall || opcode == Opcode::kUnknown ||
      opcode == Opcode::kInfeed || HasTrait(opcode, kSideEffect) || HasTrait(opcode, kRunsBody) ||
      IsCollective(opcode) || opcode == Opcode::kRngGetAndUpdateState || opcode == Opcode::kTuple ||
      !op->control_predecessors().empty()) {
    return nullptr;
  }
  if (opcode == Opcode::kConstant && op->shape().NumElements() > Thresholds().most_compared_elements())
    return nullptr;
  std::string& attrs = scratch_;
  attrs.clear();
  op->attrs().AppendToString(&attrs);
  size_t key = absl::HashOf(static_cast<int>(opcode), attrs, op->shape().dims(),
                            static_cast<int>(op->shape().element_type()));
  for (const Instruction* operand : op->operands()) key = absl::HashOf(key, operand->index());
  for (const Computation* called : op->called()) {
    if (texts_[called->index()].empty()) return nullptr;
  }
  const auto [place, is_new] = seen_.try_emplace(key, op);
  if (is_new) return nullptr;
  Instruction* before = place->second;
  if (before->opcode() != opcode || before->shape() != op->shape() || before->operands() != op->operands() ||
      before->called().size() != op->called().size() || before->attrs().SerializeAsString() != attrs) {
    return nullptr;
  }
  for (size_t k = 0; k < op->called().size(); ++k) {
    if (texts_[before->called(k)->index()] != texts_[op->called(k)->index()]) return nullptr;
  }
  return before;
}

namespace {

// What a small computation over scalars computes, whatever its names; empty for others.
std::string TextOf(const Computation& computation) {
  if (computation.size() > Thresholds().most_compared_ops()) return "";
  std::string text;
  for (const auto& op : computation.instructions()) {
    if (!op->called().empty() || HasTrait(op->opcode(), kSideEffect)) return "";
    absl::StrAppend(&text, static_cast<int>(op->opcode()), op->shape().ToString());
    for (const Instruction* operand : op->operands()) absl::StrAppend(&text, ",", operand->index());
    absl::StrAppend(&text, "|");
    op->attrs().AppendToString(&text);
  }
  absl::StrAppend(&text, ";", computation.root()->index());
  return text;
}

}  // namespace

absl::StatusOr<bool> SimplifyPass::Run(std::unique_ptr<Module>* module) {
  std::vector<std::string> texts;
  for (const auto& computation : (*module)->computations()) texts.push_back(TextOf(*computation));
  // What reducers, comparators and the like do stays as it is.
  std::vector<bool> runs(texts.size(), false);
  runs[(*module)->entry()->index()] = true;
  for (const auto& computation : (*module)->computations()) {
    for (const auto& op : computation->instructions()) {
      if (!HasTrait(op->opcode(), kRunsBody)) continue;
      for (const Computation* called : op->called()) runs[called->index()] = true;
    }
  }
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    if (!runs[computation->index()]) continue;
    const bool has_barrier =
        !keeps_barriers_ && absl::c_any_of(computation->instructions(), [](const auto& op) {
          return op->opcode() == Opcode::kOptimizationBarrier;
        });
    ASSIGN_OR_RETURN(const bool now,
                     Simplifier(computation.get(), texts, Round::kMerges, !keeps_barriers_, tiling_).Run());
    changed |= now;
    if (!has_barrier) continue;
    RETURN_IF_ERROR(Simplifier(computation.get(), texts, Round::kRemovesBarriers, !keeps_barriers_, tiling_)
                        .Run()
                        .status());
    changed = true;
  }
  changed |= EliminateDeadCode(module->get());
  return changed;
}

}  // namespace toroid
