#include "simulator/lowering/reduced_reshapes.h"

#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/lowering/elementwise.h"

namespace toroid {
namespace {

// Steps between a reduction and the reshapes of what it reads.
constexpr int kMostSteps = 16;

bool IsEverywhereTheSame(const Instruction& value) {
  return value.shape().rank() == 0 || (value.opcode() == Opcode::kBroadcast && value.operand(0)->shape().rank() == 0);
}

// What all arrays that `value` is made of elementwise were before they were reshaped to its sizes: one shape, the first of which is
// put into `before`. At most `steps` ops.
bool IsMadeOfReshapes(const Instruction& value, int* steps, const Shape** before) {
  if (IsEverywhereTheSame(value)) return true;
  if (--*steps < 0 || !value.control_predecessors().empty()) return false;
  if (value.opcode() == Opcode::kReshape) {
    const Shape& shape = value.operand(0)->shape();
    if (*before == nullptr) *before = &shape;
    return shape.dims() == (*before)->dims();
  }
  return IsElementwise(value) && value.opcode() != Opcode::kCopy && value.num_operands() > 0 &&
         absl::c_all_of(value.operands(), [&](const Instruction* operand) { return IsMadeOfReshapes(*operand, steps, before); });
}

Instruction* WithoutReshapes(Instruction* value, absl::Span<const int64_t> dims, Computation* computation) {
  if (value->shape().rank() == 0) return value;
  if (value->opcode() == Opcode::kReshape && !IsEverywhereTheSame(*value)) return value->operand(0);
  const Shape shape(value->shape().element_type(), dims);
  if (value->opcode() == Opcode::kBroadcast) return computation->AddClone(*value, shape, {value->operand(0)});
  std::vector<Instruction*> operands;
  for (Instruction* operand : value->operands()) operands.push_back(WithoutReshapes(operand, dims, computation));
  return computation->AddClone(*value, shape, operands);
}

// The dimension of `before` that dimension `d` of `after` is, with as many elements before and behind it.
std::optional<int64_t> SameDim(const Shape& before, const Shape& after, int64_t d) {
  int64_t outer = 1;
  for (int64_t i = 0; i < d; ++i) outer *= after.dim(i);
  int64_t own = 1;
  for (int64_t i = 0; i < before.rank() && own <= outer; ++i) {
    if (own == outer && before.dim(i) == after.dim(d)) return i;
    own *= before.dim(i);
  }
  return std::nullopt;
}

}  // namespace

Instruction* ReductionBeforeReshape(const Instruction& reduce, Computation* computation) {
  Instruction* made = reduce.operand(0);
  const Shape* before = nullptr;
  int steps = kMostSteps;
  if (made->shape().NumElements() == 0 || !IsMadeOfReshapes(*made, &steps, &before) || before == nullptr) return nullptr;
  if (SameButUnitDims(*before, made->shape())) return nullptr;
  Dims kept;
  for (int64_t d = 0; d < made->shape().rank(); ++d) {
    if (absl::c_linear_search(reduce.dimensions(), d)) continue;
    const std::optional<int64_t> same = SameDim(*before, made->shape(), d);
    if (!same || absl::c_linear_search(kept, *same)) return nullptr;
    kept.push_back(*same);
  }
  const Dims dims(before->dims().begin(), before->dims().end());
  Instruction* sum = computation->AddClone(
      reduce, reduce.shape(), {WithoutReshapes(made, dims, computation), reduce.operand(1)});
  xla::HloInstructionProto* attrs = sum->MutableAttrs();
  attrs->clear_dimensions();
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
    if (!absl::c_linear_search(kept, d)) attrs->add_dimensions(d);
  }
  return sum;
}

}  // namespace toroid
