#include "simulator/chip/group_class.h"

#include "hlo/ir/module.h"
#include "simulator/chip/matrix_work.h"

namespace toroid {
namespace {

absl::string_view ClassOfOp(const Instruction& op) {
  if (IsMatrixOp(op.opcode())) return "dot";
  switch (op.opcode()) {
    case Opcode::kReduceWindow:
      return "cumsum";
    case Opcode::kReduce:
      return "reduce";
    case Opcode::kCopy:
    case Opcode::kTranspose:
      return "copy";
    default:
      return "loop";
  }
}

}  // namespace

absl::string_view GroupClassOf(const Instruction& group) {
  if (group.opcode() != Opcode::kFusion || group.called().empty()) return ClassOfOp(group);
  absl::string_view heaviest = "loop";
  for (const auto& op : group.called(0)->instructions()) {
    const absl::string_view own = ClassOfOp(*op);
    if (own == "dot") return own;
    if (own == "cumsum" || (own == "reduce" && heaviest == "loop")) heaviest = own;
  }
  return heaviest;
}

}  // namespace toroid
