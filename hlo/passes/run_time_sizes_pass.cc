#include "hlo/passes/run_time_sizes_pass.h"

#include <utility>
#include <vector>

#include "hlo/ops/infer_shape.h"
#include "hlo/ops/verify_module.h"

namespace toroid {
namespace {

// Makes the dimensions of `shape` dynamic that are dynamic in `other`, an array or tuple of the same sizes.
// Returns whether one changed.
bool TakeDynamic(const Shape& other, Shape* shape) {
  bool changed = false;
  if (shape->IsTuple()) {
    if (other.tuple_shapes().size() != shape->tuple_shapes().size()) return false;
    std::vector<Shape> elements(shape->tuple_shapes().begin(), shape->tuple_shapes().end());
    for (size_t i = 0; i < elements.size(); ++i) {
      changed |= TakeDynamic(other.tuple_shape(i), &elements[i]);
    }
    if (changed) *shape = Shape::Tuple(std::move(elements));
    return changed;
  }
  if (!shape->IsArray() || !shape->SameDims(other)) return false;
  for (int d = 0; d < shape->rank(); ++d) {
    if (!other.IsDynamic(d) || shape->IsDynamic(d)) continue;
    shape->set_dynamic(d, true);
    changed = true;
  }
  return changed;
}

// The shape of a set-dimension-size with the dynamic dimensions of its operand, except the one it sets.
Shape Kept(const Instruction& instruction) {
  Shape shape = instruction.shape();
  for (int d = 0; d < shape.rank(); ++d) {
    if (d != instruction.dimension() && instruction.operand(0)->shape().IsDynamic(d))
      shape.set_dynamic(d, true);
  }
  return shape;
}

bool Drops(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kSetDimensionSize && instruction.shape().IsArray() &&
         instruction.shape().SameDims(instruction.operand(0)->shape()) &&
         Kept(instruction) != instruction.shape();
}

// True for control flow and the like, whose operands become parameters with declared shapes.
bool TakesDeclaredShapes(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kAsyncStart:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool DropsRunTimeSizes(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (Drops(*instruction)) return true;
    }
  }
  return false;
}

bool KeepRunTimeSizes(Module* module) {
  std::vector<std::pair<Instruction*, Shape>> before;
  bool enters = false;  // A changed value is an operand of TakesDeclaredShapes.
  for (const auto& computation : module->computations()) {
    std::vector<bool> changed(computation->size(), false);
    for (const auto& instruction : computation->instructions()) {
      Shape shape = instruction->shape();
      bool touched = false;
      for (const Instruction* operand : instruction->operands()) touched |= changed[operand->index()];
      enters |= touched && TakesDeclaredShapes(*instruction);
      if (Drops(*instruction)) {
        shape = Kept(*instruction);
      } else if (touched) {
        const absl::StatusOr<Shape> inferred = InferShape(*instruction);
        if (inferred.ok()) TakeDynamic(*inferred, &shape);
      }
      if (shape == instruction->shape()) continue;
      changed[instruction->index()] = true;
      before.emplace_back(instruction.get(), instruction->shape());
      instruction->mutable_shape() = std::move(shape);
    }
  }
  if (before.empty()) return false;
  if (!enters && VerifyModule(*module).ok()) return true;
  // A loop or another op accepts static shapes only: restore the declared shapes.
  for (auto& [instruction, shape] : before) instruction->mutable_shape() = std::move(shape);
  return false;
}

}  // namespace toroid
