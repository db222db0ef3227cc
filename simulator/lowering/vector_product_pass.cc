#include "simulator/lowering/vector_product_pass.h"

#include <algorithm>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/instruction_builder.h"
#include "hlo/ir/replace_instructions.h"

namespace toroid {
namespace {

bool IsFloat(const Shape& shape) {
  return shape.IsArray() && (shape.element_type() == xla::F32 || shape.element_type() == xla::BF16);
}

// The side of a dot that has contracted dimensions alone, but for those of one element; -1 if none has.
int VectorSide(const Instruction& op) {
  if (op.opcode() != Opcode::kDot || !IsFloat(op.shape())) return -1;
  const DotView view(op);
  if (view.lhs_contracting().empty()) return -1;
  for (const int side : {1, 0}) {
    const Shape& shape = op.operand(side)->shape();
    if (!IsFloat(shape) || !IsFloat(op.operand(1 - side)->shape())) return -1;
    int64_t contracted = 1;
    for (const int64_t d : side == 0 ? view.lhs_contracting() : view.rhs_contracting()) contracted *= shape.dim(d);
    if (contracted > 1 && contracted == shape.NumElements()) return side;
  }
  return -1;
}

Instruction* AsSum(Instruction* dot, int side, InstructionBuilder* b) {
  const DotView view(*dot);
  const auto of_vector = side == 0 ? view.lhs_contracting() : view.rhs_contracting();
  const auto of_matrix = side == 0 ? view.rhs_contracting() : view.lhs_contracting();
  Instruction* matrix = dot->operand(1 - side);
  Instruction* vector = dot->operand(side);
  b->set_metadata(dot->metadata());
  // The vector's dimensions, in the order in which the matrix has them.
  std::vector<int64_t> numbers(of_matrix.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  std::sort(numbers.begin(), numbers.end(), [&](int64_t x, int64_t y) { return of_matrix[x] < of_matrix[y]; });
  Dims sizes, permutation, places;
  Dims sorted(of_vector.begin(), of_vector.end());
  std::sort(sorted.begin(), sorted.end());
  for (const int64_t d : sorted) sizes.push_back(vector->shape().dim(d));
  for (const int64_t i : numbers) {
    permutation.push_back(std::find(sorted.begin(), sorted.end(), of_vector[i]) - sorted.begin());
    places.push_back(of_matrix[i]);
  }
  vector = b->Convert(b->Transpose(b->Reshape(vector, sizes), permutation), xla::F32);
  matrix = b->Convert(matrix, xla::F32);
  Instruction* sum = b->Sum(b->Multiply(matrix, b->Broadcast(vector, matrix->shape().dims(), places)), places);
  return b->Convert(b->Reshape(sum, dot->shape().dims()), dot->shape().element_type());
}

}  // namespace

absl::StatusOr<bool> VectorProductPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  const int count = (*module)->num_computations();
  for (int c = 0; c < count; ++c) {
    Computation* computation = (*module)->computation(c);
    const int n = computation->size();
    std::vector<Instruction*> now(n, nullptr);
    bool here = false;
    for (int i = 0; i < n; ++i) {
      Instruction* op = computation->instruction(i);
      const int side = VectorSide(*op);
      if (side < 0) continue;
      InstructionBuilder builder(computation);
      now[i] = AsSum(op, side, &builder);
      RETURN_IF_ERROR(builder.status());
      here = true;
    }
    if (!here) continue;
    RETURN_IF_ERROR(ReplaceInstructions(computation, now));
    changed = true;
  }
  // Sums' computations stand before those that call them.
  if (changed) (*module)->RemoveUnreachableComputations();
  return changed;
}

}  // namespace toroid
