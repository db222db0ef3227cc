#include "hlo/ops/reduce.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/ops/constraint.h"
#include "hlo/ops/window.h"

namespace toroid {
namespace {

// Checks n arrays and n initial values, and the reducer; returns the arrays' types.
absl::StatusOr<std::vector<PrimitiveType>> CheckReduceOperands(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 2));
  RETURN_IF_ERROR(CheckArrays(instruction));
  const int n = instruction.num_operands() / 2;
  if (instruction.num_operands() % 2 != 0) {
    return Violates("C0", absl::StrCat(instruction.num_operands(), " operands"),
                    "give n arrays and n initial values");
  }
  std::vector<PrimitiveType> types;
  for (int i = 0; i < n; ++i) {
    const Shape& array = instruction.operand(i)->shape();
    if (!array.SameDims(instruction.operand(0)->shape())) {
      return Violates("C2", absl::StrCat("array ", i, " is ", array.ToString(), " beside ",
                                         instruction.operand(0)->shape().ToString()));
    }
    RETURN_IF_ERROR(
        CheckScalar("C2", "the initial value", instruction.operand(n + i)->shape(), array.element_type()));
    types.push_back(array.element_type());
  }
  RETURN_IF_ERROR(CheckReducer("C3", *instruction.called(0), types));
  return types;
}

absl::StatusOr<Shape> ArraysOf(const std::vector<PrimitiveType>& types, const Dims& dims) {
  std::vector<Shape> shapes;
  for (const PrimitiveType type : types) {
    ASSIGN_OR_RETURN(Shape shape, MakeArray(type, dims));
    shapes.push_back(std::move(shape));
  }
  return shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
}

absl::StatusOr<Dims> WindowedDims(const Shape& operand, const xla::Window& window) {
  if (window.dimensions_size() != operand.rank()) {
    return Violates("C1", absl::StrCat("a window of ", window.dimensions_size(), " dimensions over ",
                                       operand.ToString()));
  }
  Dims dims;
  for (int i = 0; i < operand.rank(); ++i) {
    if (window.dimensions(i).size() < 1) {
      return Violates("C1", absl::StrCat("window size ", window.dimensions(i).size(), " in dimension ", i),
                      "use 1 or more");
    }
    ASSIGN_OR_RETURN(const int64_t size, WindowedSize("C1", operand.dim(i), window.dimensions(i)));
    dims.push_back(size);
  }
  return dims;
}

}  // namespace

absl::StatusOr<Shape> InferReduceShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const std::vector<PrimitiveType> types, CheckReduceOperands(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  RETURN_IF_ERROR(CheckDistinctDimensions("C1", "dimension", instruction.dimensions(), operand.rank()));
  Dims dims;
  for (int d = 0; d < operand.rank(); ++d) {
    if (!Contains(instruction.dimensions(), d)) dims.push_back(operand.dim(d));
  }
  return ArraysOf(types, dims);
}

absl::StatusOr<Shape> InferReduceWindowShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const std::vector<PrimitiveType> types, CheckReduceOperands(instruction));
  ASSIGN_OR_RETURN(const Dims dims,
                   WindowedDims(instruction.operand(0)->shape(), instruction.attrs().window()));
  return ArraysOf(types, dims);
}

absl::StatusOr<Shape> InferSelectAndScatterShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const Shape& source = instruction.operand(1)->shape();
  const PrimitiveType type = operand.element_type();
  for (const xla::WindowDimension& window : instruction.attrs().window().dimensions()) {
    if (window.base_dilation() != 1 || window.window_dilation() != 1) {
      return Violates("C1", "a dilated window", "use dilations of 1");
    }
  }
  ASSIGN_OR_RETURN(const Dims dims, WindowedDims(operand, instruction.attrs().window()));
  ASSIGN_OR_RETURN(const Shape windows, MakeArray(type, dims));
  if (!SameShape(source, windows)) {
    return Violates("C2", absl::StrCat("source ", source.ToString(), " for windows ", windows.ToString()));
  }
  RETURN_IF_ERROR(CheckScalar("C2", "the initial value", instruction.operand(2)->shape(), type));
  const Shape scalar(type, {});
  RETURN_IF_ERROR(
      CheckCallee("C3", "select", *instruction.called(0), {scalar, scalar}, Shape(xla::PRED, {})));
  RETURN_IF_ERROR(CheckCallee("C3", "scatter", *instruction.called(1), {scalar, scalar}, scalar));
  return operand.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferMapShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& first = instruction.operand(0)->shape();
  std::vector<Shape> scalars;
  for (const Instruction* operand : instruction.operands()) {
    if (!operand->shape().SameDims(first)) {
      return Violates("C1",
                      absl::StrCat("operands ", first.ToString(), " and ", operand->shape().ToString()));
    }
    scalars.push_back(Shape(operand->shape().element_type(), {}));
  }
  const Shape& result = instruction.called(0)->root()->shape();
  if (!result.IsScalar()) return Violates("C2", absl::StrCat("the computation gives ", result.ToString()));
  RETURN_IF_ERROR(CheckCallee("C2", "computation", *instruction.called(0), scalars, result));
  const absl::Span<const int64_t> dimensions = instruction.dimensions();
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] != static_cast<int64_t>(i) || dimensions.size() != static_cast<size_t>(first.rank())) {
      return Violates("C3", "dimensions are not 0, 1, .., rank-1");
    }
  }
  return MakeArray(result.element_type(), first.dims());
}

absl::StatusOr<Shape> InferScanShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const int64_t carries = instruction.attrs().num_carries();
  if (carries < 0 || carries >= instruction.num_operands()) {
    return Violates("C2", absl::StrCat(carries, " carries of ", instruction.num_operands(), " operands"));
  }
  if (instruction.dimensions().size() != 1) return Violates("C1", "not exactly one dimension");
  const int64_t d = instruction.dimension();
  const int inputs = instruction.num_operands() - static_cast<int>(carries);
  int64_t steps = -1;
  std::vector<Shape> parameters;
  for (int i = 0; i < inputs; ++i) {
    const Shape& input = instruction.operand(i)->shape();
    RETURN_IF_ERROR(CheckDimension("C1", "dimension", d, input.rank()));
    if (steps >= 0 && input.dim(static_cast<int>(d)) != steps) {
      return Violates("C1", "inputs differ in the number of steps");
    }
    steps = input.dim(static_cast<int>(d));
    Dims dims(input.dims().begin(), input.dims().end());
    dims.erase(dims.begin() + d);
    parameters.push_back(Shape(input.element_type(), dims));
  }
  for (int i = inputs; i < instruction.num_operands(); ++i)
    parameters.push_back(instruction.operand(i)->shape());
  const Computation& body = *instruction.called(0);
  const Shape& step = body.root()->shape();
  if (!step.IsTuple() || static_cast<int64_t>(step.tuple_shapes().size()) < carries) {
    return Violates("C3", absl::StrCat("the computation gives ", step.ToString()),
                    "give outputs and carries as a tuple");
  }
  RETURN_IF_ERROR(CheckCallee("C3", "computation", body, parameters, step));
  const int outputs = static_cast<int>(step.tuple_shapes().size() - carries);
  std::vector<Shape> results;
  for (int i = 0; i < outputs; ++i) {
    const Shape& output = step.tuple_shape(i);
    if (!output.IsArray() || d > output.rank()) {
      return Violates("C3", absl::StrCat("output ", i, " of the computation is ", output.ToString()));
    }
    Dims dims(output.dims().begin(), output.dims().end());
    dims.insert(dims.begin() + d, steps);
    ASSIGN_OR_RETURN(Shape stacked, MakeArray(output.element_type(), dims));
    results.push_back(std::move(stacked));
  }
  for (int i = 0; i < carries; ++i) {
    const Shape& carry = instruction.operand(inputs + i)->shape();
    if (!SameShape(step.tuple_shape(outputs + i), carry)) {
      return Violates("C3", absl::StrCat("carry ", i, " changes from ", carry.ToString(), " to ",
                                         step.tuple_shape(outputs + i).ToString()));
    }
    results.push_back(carry.WithRowMajorLayout());
  }
  return Shape::Tuple(std::move(results));
}

}  // namespace toroid
