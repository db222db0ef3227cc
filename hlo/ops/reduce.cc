#include "hlo/ops/reduce.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/ops/constraint.h"
#include "hlo/ops/window.h"

namespace toroid {
namespace {

// Checks the operands (n arrays and n initial values) and the reducer; returns the types of the reducer's n
// accumulators.
absl::StatusOr<std::vector<PrimitiveType>> CheckReduceOperands(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const int n = instruction.num_operands() / 2;
  if (instruction.num_operands() % 2 != 0 || n == 0) {
    return Violates("C1", "operands", absl::StrCat(instruction.num_operands()),
                    "n arrays and n initial values, n > 0");
  }
  std::vector<PrimitiveType> types;
  for (int i = 0; i < n; ++i) {
    const Shape& array = instruction.operand(i)->shape();
    if (!array.SameDims(instruction.operand(0)->shape())) {
      return Violates("C2", absl::StrCat("operand ", i), array.ToString(),
                      absl::StrCat("the sizes of ", instruction.operand(0)->shape().ToString()));
    }
    RETURN_IF_ERROR(CheckShapeUpToFloats("C3", absl::StrCat("initial value ", i),
                                         instruction.operand(n + i)->shape(),
                                         Shape(array.element_type(), {})));
    types.push_back(array.element_type());
  }
  RETURN_IF_ERROR(CheckReducer("C4", *instruction.called(0), types));
  return AccumulatorTypes(*instruction.called(0), n);
}

absl::StatusOr<Shape> ArraysOf(const std::vector<PrimitiveType>& types, const Dims& dims) {
  std::vector<Shape> shapes;
  for (const PrimitiveType type : types) {
    ASSIGN_OR_RETURN(Shape shape, MakeArray(type, dims));
    shapes.push_back(std::move(shape));
  }
  return shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
}

// The constraints of a window over an array, as its op numbers them.
struct WindowConstraints {
  absl::string_view entries, sizes, work;
};

absl::StatusOr<Dims> WindowedDims(const WindowConstraints& c, const Shape& operand,
                                  const xla::Window& window) {
  if (window.dimensions_size() != operand.rank()) {
    return Violates(c.entries, "window dimensions", absl::StrCat(window.dimensions_size()),
                    absl::StrCat("one per dimension of ", operand.ToString()));
  }
  Dims dims, padded;
  for (int i = 0; i < operand.rank(); ++i) {
    const int64_t size = window.dimensions(i).size();
    if (size < 1) {
      return Violates(c.entries, absl::StrCat("window size of dimension ", i), absl::StrCat(size),
                      "1 or more");
    }
    ASSIGN_OR_RETURN(const WindowSizes sizes,
                     SizesUnderWindow(c.sizes, operand.dim(i), window.dimensions(i)));
    dims.push_back(sizes.windows);
    RETURN_IF_ERROR(CheckProduct(c.work, absl::StrCat("the window size of dimension ", i), {size}));
    padded.push_back(sizes.padded);
  }
  RETURN_IF_ERROR(CheckProduct(c.work, "the bytes of the padded array", padded));
  return dims;
}

}  // namespace

absl::StatusOr<Shape> InferReduceShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const std::vector<PrimitiveType> types, CheckReduceOperands(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  RETURN_IF_ERROR(CheckDistinctDimensions("C5", "dimension", instruction.dimensions(), operand.rank()));
  Dims dims;
  for (int d = 0; d < operand.rank(); ++d) {
    if (!Contains(instruction.dimensions(), d)) dims.push_back(operand.dim(d));
  }
  return ArraysOf(types, dims);
}

absl::StatusOr<Shape> InferReduceWindowShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const std::vector<PrimitiveType> types, CheckReduceOperands(instruction));
  ASSIGN_OR_RETURN(const Dims dims, WindowedDims({"C5", "C6", "C7"}, instruction.operand(0)->shape(),
                                                 instruction.attrs().window()));
  return ArraysOf(types, dims);
}

absl::StatusOr<Shape> InferSelectAndScatterShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const Shape scalar(operand.element_type(), {});
  for (const xla::WindowDimension& window : instruction.attrs().window().dimensions()) {
    if (window.base_dilation() == 1 && window.window_dilation() == 1) continue;
    return Violates("C2", "window dilations",
                    absl::StrCat(window.base_dilation(), " and ", window.window_dilation()), "1");
  }
  ASSIGN_OR_RETURN(const Dims dims, WindowedDims({"C1", "C2", "C3"}, operand, instruction.attrs().window()));
  RETURN_IF_ERROR(CheckShapeUpToFloats("C4", "the source", instruction.operand(1)->shape(),
                                       Shape(operand.element_type(), dims)));
  RETURN_IF_ERROR(CheckShapeUpToFloats("C5", "the initial value", instruction.operand(2)->shape(), scalar));
  RETURN_IF_ERROR(CheckReducer("C7", *instruction.called(1), {operand.element_type()}));
  const Shape computed(AccumulatorTypes(*instruction.called(1), 1)[0], {});
  RETURN_IF_ERROR(
      CheckCallee("C6", "select", *instruction.called(0), {computed, computed}, Shape(xla::PRED, {})));
  return operand.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferMapShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  RETURN_IF_ERROR(CheckEqualSizes("C1", instruction));
  const Shape& first = instruction.operand(0)->shape();
  std::vector<Shape> scalars;
  for (const Instruction* operand : instruction.operands()) {
    scalars.push_back(Shape(operand->shape().element_type(), {}));
  }
  const Computation& computation = *instruction.called(0);
  const Shape& result = computation.root()->shape();
  if (!result.IsScalar()) {
    return Violates("C2", absl::StrCat("result of ", computation.name()), result.ToString(), "a scalar");
  }
  RETURN_IF_ERROR(CheckCalleeUpToFloats("C2", "computation", computation, scalars, result));
  const absl::Span<const int64_t> dimensions = instruction.dimensions();
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] == static_cast<int64_t>(i) && dimensions.size() == static_cast<size_t>(first.rank())) {
      continue;
    }
    return Violates("C3", "dimensions", ListOf(dimensions),
                    absl::StrCat("none, or all ", first.rank(), " in their order"));
  }
  return MakeArray(result.element_type(), first.dims());
}

namespace {

// C1 .. C4: the parameters of a step.
absl::StatusOr<std::vector<Shape>> StepParameters(const Instruction& instruction, int inputs) {
  std::vector<Shape> parameters;
  for (int i = 0; i < instruction.num_operands(); ++i) {
    const Shape& shape = instruction.operand(i)->shape();
    if (i >= inputs) {
      parameters.push_back(shape);
      continue;
    }
    RETURN_IF_ERROR(CheckOneDimension("C2", instruction, shape.rank()));
    const int64_t d = instruction.dimension();
    const int64_t steps = instruction.operand(0)->shape().dim(d);
    if (shape.dim(d) != steps) {
      return Violates("C3", absl::StrCat("operand ", i), shape.ToString(),
                      absl::StrCat("size ", steps, " in dimension ", d));
    }
    Dims dims(shape.dims().begin(), shape.dims().end());
    dims.erase(dims.begin() + d);
    parameters.push_back(Shape(shape.element_type(), dims));
  }
  return parameters;
}

}  // namespace

absl::StatusOr<Shape> InferScanShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const int64_t carries = instruction.attrs().num_carries();
  if (carries < 0 || carries >= instruction.num_operands()) {
    return Violates("C1", "num_carries", absl::StrCat(carries),
                    absl::StrCat("0 or more, and fewer than the ", instruction.num_operands(), " operands"));
  }
  const int inputs = instruction.num_operands() - static_cast<int>(carries);
  ASSIGN_OR_RETURN(const std::vector<Shape> parameters, StepParameters(instruction, inputs));
  const int64_t d = instruction.dimension();
  const int64_t steps = instruction.operand(0)->shape().dim(d);
  const Computation& body = *instruction.called(0);
  const Shape& step = body.root()->shape();
  if (!step.IsTuple() || static_cast<int64_t>(step.tuple_shapes().size()) < carries) {
    return Violates("C5", absl::StrCat("result of ", body.name()), step.ToString(),
                    absl::StrCat("a tuple of outputs and ", carries, " carries"));
  }
  RETURN_IF_ERROR(CheckCallee("C4", "computation", body, parameters, step));
  const int outputs = static_cast<int>(step.tuple_shapes().size() - carries);
  std::vector<Shape> results;
  for (int i = 0; i < outputs; ++i) {
    const Shape& output = step.tuple_shape(i);
    if (!output.IsArray() || d > output.rank()) {
      return Violates("C5", absl::StrCat("output ", i, " of ", body.name()), output.ToString(),
                      absl::StrCat("an array of rank ", d, " or more"));
    }
    Dims dims(output.dims().begin(), output.dims().end());
    dims.insert(dims.begin() + d, steps);
    ASSIGN_OR_RETURN(Shape stacked, MakeArray(output.element_type(), dims));
    results.push_back(std::move(stacked));
  }
  for (int i = 0; i < carries; ++i) {
    const Shape& carry = instruction.operand(inputs + i)->shape();
    RETURN_IF_ERROR(CheckShape("C5", absl::StrCat("carry ", i, " that ", body.name(), " gives"),
                               step.tuple_shape(outputs + i), carry));
    results.push_back(carry.WithRowMajorLayout());
  }
  return Shape::Tuple(std::move(results));
}

}  // namespace toroid
