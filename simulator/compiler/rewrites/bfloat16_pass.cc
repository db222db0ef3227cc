#include "simulator/compiler/rewrites/bfloat16_pass.h"

#include <algorithm>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/ir/edit.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/walk.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// Rounds its operands to bf16.
bool RoundsOperands(const Instruction& op) {
  if (op.opcode() != Opcode::kDot && op.opcode() != Opcode::kConvolution) return false;
  const auto& precision = op.attrs().precision_config();
  if (precision.algorithm() != xla::PrecisionConfig::ALG_UNSET) return false;
  return std::all_of(precision.operand_precision().begin(), precision.operand_precision().end(),
                     [](int p) { return p == xla::PrecisionConfig::DEFAULT; });
}

// Its results are its operand's elements: rounding before or after is the same. All operands have one type.
bool PassesOn(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kCopy:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kConcatenate:
    case Opcode::kBroadcast:
      return true;
    case Opcode::kAllToAll:
    case Opcode::kAllGather:
    case Opcode::kCollectivePermute:
      return op.shape().IsArray() && op.num_operands() == 1;
    default:
      return false;
  }
}

bool IsFloat32(const Instruction& value) {
  return value.shape().element_type() == xla::F32 && value.shape().rank() > 0;
}

Instruction* Rounded(Instruction* value) {
  // What was bf16 already is that again.
  if (value->opcode() == Opcode::kConvert && value->operand(0)->shape().element_type() == xla::BF16)
    return value->operand(0);
  Shape shape = value->shape();
  shape.set_element_type(xla::BF16);
  Instruction* convert = value->computation()->Add(Opcode::kConvert, shape, {value});
  convert->set_metadata(value->metadata());
  convert->set_cause(value->cause());
  return Marked(Rule::kOperandsAreRounded, convert);
}

// A product, or what is made elementwise of one that is read so alone.
bool IsOfProduct(const Instruction& value, const UserMap& users) {
  constexpr size_t kMostReaders = 16;
  constexpr WalkLimit kProducersToRound = {"producers that are rounded with a value", 64};
  for (Walk walk(&value, kProducersToRound); const Instruction* at = walk.Next();) {
    if (RoundsOperands(*at)) return true;
    if (!IsElementwise(*at)) continue;
    for (const Instruction* operand : at->operands()) {
      const auto readers = users.users(*operand);
      if (operand->shape().dims() != value.shape().dims() || readers.size() > kMostReaders) continue;
      if (std::all_of(readers.begin(), readers.end(),
                      [](const Instruction* reader) { return IsElementwise(*reader); }))
        walk.AddAgain(operand);
    }
  }
  return false;
}

// A sum that runs in the group of its operand, before that is rounded.
bool IsSumBeside(const Instruction& op, const UserMap& users) {
  return op.opcode() == Opcode::kReduce && op.num_operands() == 2 && op.shape().rank() > 0 &&
         IsOfProduct(*op.operand(0), users) && IsOn(Rule::kSummedBesideRounding);
}

// A maximum over windows: its result is one of the elements, so that rounding can come first.
bool IsLargestOfWindows(const Instruction& op) {
  return op.opcode() == Opcode::kReduceWindow && op.num_operands() == 2 && !op.called().empty() &&
         op.called(0)->root() != nullptr && op.called(0)->root()->opcode() == Opcode::kMaximum &&
         IsOn(Rule::kPooledIsRounded);
}

bool Narrow(Computation* computation) {
  const int n = computation->size();
  const UserMap users(*computation);
  // All that reads a value rounds it.
  std::vector<bool> narrow(n, true), used(n, false);
  narrow[computation->root()->index()] = false;
  for (int i = n - 1; i >= 0; --i) {
    const Instruction* op = computation->instruction(i);
    const bool rounds = RoundsOperands(*op) || (PassesOn(*op) && used[i] && narrow[i]);
    const bool is_beside = IsSumBeside(*op, users),
               is_largest = IsLargestOfWindows(*op) && used[i] && narrow[i];
    for (const Instruction* operand : op->operands()) {
      // Sums alone make no value narrow.
      if (is_beside && operand == op->operand(0)) continue;
      used[operand->index()] = true;
      if (is_largest && operand == op->operand(0)) continue;
      if (!rounds) narrow[operand->index()] = false;
    }
    narrow[i] = narrow[i] && used[i] && IsFloat32(*op);
  }
  bool changed = false;
  std::vector<Instruction*> rounded(n, nullptr);
  for (int i = 0; i < n; ++i) {
    Instruction* op = computation->instruction(i);
    // What is cut from an argument is rounded as it is read.
    const bool is_cut = op->opcode() == Opcode::kSlice && op->operand(0)->opcode() == Opcode::kParameter;
    const bool passes = PassesOn(*op) && narrow[i] && !is_cut;
    const bool is_whole = IsSumBeside(*op, users) || IsLargestOfWindows(*op);
    if (is_whole && op->operand(0)->index() < n && rounded[op->operand(0)->index()] != nullptr) {
      Instruction* value = op->operand(0);
      Instruction* whole = computation->Add(Opcode::kConvert, value->shape(), {rounded[value->index()]});
      whole->set_metadata(value->metadata());
      op->set_operand(0, whole);
    }
    if (passes || RoundsOperands(*op)) {
      for (int k = 0; k < op->num_operands(); ++k) {
        Instruction* operand = op->operand(k);
        if (operand->index() >= n || !IsFloat32(*operand)) continue;
        // What stays f32 is rounded inside of the dot, or on its way to one.
        if (!narrow[operand->index()] && !passes) continue;
        if (rounded[operand->index()] == nullptr) rounded[operand->index()] = Rounded(operand);
        op->set_operand(k, rounded[operand->index()]);
      }
    }
    if (passes) {
      op->mutable_shape().set_element_type(xla::BF16);
      changed = true;
    } else if (narrow[i] && op->opcode() != Opcode::kParameter && op->opcode() != Opcode::kGetTupleElement &&
               op->opcode() != Opcode::kConstant) {
      if (rounded[i] == nullptr) rounded[i] = Rounded(op);
      changed = true;
    } else {
      narrow[i] = false;
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> Bfloat16Pass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  if (!IsOn(Rule::kOperandsAreRounded)) return false;
  for (const auto& computation : (*module)->computations()) {
    if (computation->root() == nullptr || !Narrow(computation.get())) continue;
    RETURN_IF_ERROR(SortInstructions(computation.get()));
    changed = true;
  }
  return changed;
}

}  // namespace toroid
