#include "partitioner/ops/emit_custom_call.h"

#include "hlo/ir/edit.h"

namespace toroid {
namespace {

// Removes a stated Shardy rule, whose sizes are those of the global arrays.
void DropStatedRule(Instruction* call) {
  constexpr char kRule[] = "xla.sdy.sharding_rule";
  if (call->FrontendAttribute(kRule) == nullptr) return;
  xla::FrontendAttributes* attributes = call->module()->New(*call->frontend_attributes());
  attributes->mutable_map()->erase(kRule);
  call->set_frontend_attributes(attributes->map().empty() ? nullptr : attributes);
}

}  // namespace

std::vector<Instruction*> EmitCustomCall(
    SpmdBuilder& b, const Instruction& call, absl::Span<Instruction* const> operands,
    const Shape& local_result, const std::function<Computation*(const Computation*)>& copy_computation) {
  const bool constrained = call.attrs().constrain_layout();
  const auto& constraints = call.attrs().operand_shapes_with_layout();
  std::vector<Instruction*> inside(operands.begin(), operands.end());
  for (size_t i = 0; constrained && i < inside.size() && i < static_cast<size_t>(constraints.size()); ++i) {
    const absl::StatusOr<Shape> wanted = Shape::FromProto(constraints.Get(static_cast<int>(i)));
    if (!wanted.ok()) continue;  // An unknown element type: keeps the operand's layout.
    inside[i] = b.ToLayout(inside[i], *wanted);
  }
  Instruction* clone = b.Clone(call, WithLayoutOf(local_result, call.shape()), inside);
  DropStatedRule(clone);
  if (constrained) {
    xla::HloInstructionProto* attrs = clone->MutableAttrs();
    for (int i = 0; i < attrs->operand_shapes_with_layout_size() && i < clone->num_operands(); ++i) {
      *attrs->mutable_operand_shapes_with_layout(i) = clone->operand(i)->shape().ToProto();
    }
  }
  if (!clone->called().empty()) ReplaceCalled(clone, copy_computation);
  std::vector<Instruction*> leaves = b.Flatten(clone);
  for (Instruction*& leaf : leaves) leaf = b.ToRowMajor(leaf);
  return leaves;
}

}  // namespace toroid
