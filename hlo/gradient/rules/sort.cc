#include "hlo/gradient/rules/sort.h"

#include <vector>

#include "hlo/ir/edit.h"

namespace toroid {
namespace {

// The comparator with two more parameters, which it ignores.
Computation* WithNumbers(InstructionBuilder& b, const Computation& less) {
  InstructionBuilder inner = b.InNewComputation(less.name());
  std::vector<Value> parameters;
  for (const Instruction* parameter : less.parameters())
    parameters.push_back(inner.Parameter(parameter->shape(), ""));
  inner.Parameter(Shape(xla::S32, {}), "place_a");
  inner.Parameter(Shape(xla::S32, {}), "place_b");
  return inner.Finish(CloneInstructions(less, parameters, inner.computation())[less.root()->index()]);
}

// Compares the first of `operands` alone.
Computation* FirstIsLess(InstructionBuilder& b, absl::Span<const Value> operands) {
  InstructionBuilder inner = b.InNewComputation("first_is_less");
  std::vector<Value> parameters;
  for (const Value operand : operands) {
    for (int i = 0; i < 2; ++i)
      parameters.push_back(inner.Parameter(Shape(operand->shape().element_type(), {}), ""));
  }
  return inner.Finish(inner.Compare(parameters[0], parameters[1], "LT"));
}

}  // namespace

absl::Status SortGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const int64_t dimension = p.op().dimension();
  const Shape& shape = p.operand_shape(0);
  // Numbers, sorted together with the elements, give the place that each element came from.
  std::vector<Value> operands;
  for (int i = 0; i < p.op().num_operands(); ++i) operands.push_back(p.operand(i));
  operands.push_back(b.Iota(xla::S32, shape.dims(), dimension));
  const Value sorted =
      b.Sort(operands, dimension, WithNumbers(b, *p.op().called(0)), p.op().attrs().is_stable());
  // Sorting cotangents by those places moves them back.
  std::vector<Value> back = {b.GetTupleElement(sorted, p.op().num_operands())};
  std::vector<int> of;
  for (int i = 0; i < p.op().num_operands(); ++i) {
    const Value cotangent = p.cotangent_or_null(i);
    if (cotangent == nullptr || !p.Wants(i)) continue;
    back.push_back(cotangent);
    of.push_back(i);
  }
  if (of.empty()) return absl::OkStatus();
  const Value unsorted = b.Sort(back, dimension, FirstIsLess(b, back), /*is_stable=*/false);
  for (size_t k = 0; k < of.size(); ++k)
    p.Add(of[k], b.GetTupleElement(unsorted, static_cast<int64_t>(k) + 1));
  return absl::OkStatus();
}

absl::Status TopKGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const Shape& shape = p.operand_shape(0);
  const int64_t last = shape.rank() - 1;
  // Cotangents go back to the indices of their values, row by row.
  xla::ScatterDimensionNumbers numbers;
  for (int64_t d = 0; d < last; ++d) {
    numbers.add_input_batching_dims(d);
    numbers.add_scatter_indices_batching_dims(d);
  }
  numbers.add_inserted_window_dims(last);
  numbers.add_scatter_dims_to_operand_dims(last);
  numbers.set_index_vector_dim(shape.rank());
  p.Add(0, b.Scatter(b.Zeros(shape.element_type(), shape.dims()), b.GetTupleElement(p.result(), 1),
                     p.cotangent(0), numbers, b.ReducerComputation(Opcode::kAdd, shape.element_type())));
  return absl::OkStatus();
}

}  // namespace toroid
