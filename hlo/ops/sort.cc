#include "hlo/ops/sort.h"

#include <vector>

#include "hlo/ops/constraint.h"

namespace toroid {

absl::StatusOr<Shape> InferSortShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  RETURN_IF_ERROR(CheckOneDimension("C1", instruction, instruction.operand(0)->shape().rank()));
  RETURN_IF_ERROR(CheckEqualSizes("C2", instruction));
  std::vector<Shape> results, parameters;
  for (const Instruction* operand : instruction.operands()) {
    results.push_back(operand->shape().WithRowMajorLayout());
    parameters.insert(parameters.end(), 2, Shape(operand->shape().element_type(), {}));
  }
  RETURN_IF_ERROR(
      CheckCalleeUpToFloats("C3", "comparator", *instruction.called(0), parameters, Shape(xla::PRED, {})));
  return results.size() == 1 ? results[0] : Shape::Tuple(results);
}

absl::StatusOr<Shape> InferTopKShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  Shape values = instruction.operand(0)->shape().WithRowMajorLayout();
  const int64_t k = instruction.attrs().k();
  if (values.rank() < 1 || k < 0 || k > values.dims().back()) {
    return Violates("C1", "k", absl::StrCat(k), absl::StrCat("0 .. the last size of ", values.ToString()));
  }
  if (!IsInt(values.element_type()) && !IsFloat(values.element_type())) {
    return Violates("C2", "the operand", values.ToString(), "integers or floats");
  }
  values.set_dim(values.rank() - 1, k);
  Shape indices = values;
  indices.set_element_type(xla::S32);
  return Shape::Tuple({values, indices});
}

}  // namespace toroid
