#include "simulator/compiler/rewrites/vector_product_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"
#include "simulator/program/elementwise.h"
#include "simulator/rules/compiler_scope.h"

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
    for (const int64_t d : side == 0 ? view.lhs_contracting() : view.rhs_contracting())
      contracted *= shape.dim(d);
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
  std::sort(numbers.begin(), numbers.end(),
            [&](int64_t x, int64_t y) { return of_matrix[x] < of_matrix[y]; });
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
  Instruction* sum =
      b->Sum(b->Multiply(matrix, b->Broadcast(vector, matrix->shape().dims(), places)), places);
  return b->Reshape(b->Convert(sum, dot->shape().element_type()), dot->shape().dims());
}

// The side of a batched dot that is a vector for each element of the batch: it has no dimensions of more than one element but
// batch and contracted ones. -1 if neither side is, or if matrix units do it: the other side's matrices have `least` rows and
// columns, and the vector has no dimension of one element, or is among `made_of_sums`.
int VectorSideOfBatch(const Instruction& op, int64_t least,
                      const absl::flat_hash_set<const Instruction*>& made_of_sums) {
  if (op.opcode() != Opcode::kDot || !IsFloat(op.shape())) return -1;
  const DotView view(op);
  if (view.lhs_batch().empty() || op.shape().NumElements() == 0) return -1;
  int64_t own = 1, contracted = 1;
  for (const int64_t d : view.lhs_batch()) own *= op.operand(0)->shape().dim(d);
  for (const int64_t d : view.lhs_contracting()) contracted *= op.operand(0)->shape().dim(d);
  if (own == 1) return -1;
  for (const int side : {1, 0}) {
    const Shape& shape = op.operand(side)->shape();
    if (!IsFloat(shape) || !IsFloat(op.operand(1 - side)->shape())) return -1;
    const size_t bound = view.lhs_batch().size() + view.lhs_contracting().size();
    if (shape.NumElements() != own * contracted) continue;
    // Matrices that fill a part of a tile stay with the matrix units, unless the vector has a dimension of one element.
    const int64_t free =
        op.operand(1 - side)->shape().NumElements() / (own * std::max<int64_t>(1, contracted));
    const bool is_thin =
        static_cast<size_t>(shape.rank()) > bound && !made_of_sums.contains(op.operand(side));
    if (std::min(contracted, free) < least || is_thin) return side;
  }
  return -1;
}

Instruction* BatchAsSum(Instruction* dot, int side, InstructionBuilder* b) {
  const DotView view(*dot);
  b->set_metadata(dot->metadata());
  const auto of_vector = [&](bool batch) {
    return side == 0 ? (batch ? view.lhs_batch() : view.lhs_contracting())
                     : (batch ? view.rhs_batch() : view.rhs_contracting());
  };
  const auto of_matrix = [&](bool batch) {
    return side == 1 ? (batch ? view.lhs_batch() : view.lhs_contracting())
                     : (batch ? view.rhs_batch() : view.rhs_contracting());
  };
  Instruction* matrix = b->Convert(dot->operand(1 - side), xla::F32);
  // Without its dimensions of one element that are neither.
  Dims numbers(dot->operand(side)->shape().rank(), -1), sizes;
  for (int64_t d = 0; d < dot->operand(side)->shape().rank(); ++d) {
    const auto among = [d](auto list) { return std::find(list.begin(), list.end(), d) != list.end(); };
    if (!among(of_vector(true)) && !among(of_vector(false))) continue;
    numbers[d] = static_cast<int64_t>(sizes.size());
    sizes.push_back(dot->operand(side)->shape().dim(d));
  }
  Instruction* vector = b->Convert(b->Reshape(dot->operand(side), sizes), xla::F32);
  // Dimensions of the vector in the order in which the matrix has them.
  std::vector<std::pair<int64_t, int64_t>> places;  // In the matrix, in the vector.
  for (const bool batch : {true, false}) {
    for (size_t i = 0; i < of_vector(batch).size(); ++i)
      places.push_back({of_matrix(batch)[i], numbers[of_vector(batch)[i]]});
  }
  std::sort(places.begin(), places.end());
  Dims permutation, into;
  for (const auto& [in_matrix, in_vector] : places) {
    into.push_back(in_matrix);
    permutation.push_back(in_vector);
  }
  vector = b->Transpose(vector, permutation);
  if (static_cast<int>(into.size()) < matrix->shape().rank())
    vector = b->Broadcast(vector, matrix->shape().dims(), into);
  Instruction* product = side == 1 ? b->Multiply(matrix, vector) : b->Multiply(vector, matrix);
  const Dims contracted(of_matrix(false).begin(), of_matrix(false).end());
  Instruction* sum = contracted.empty() ? product : b->Sum(product, contracted);
  // What is left of the matrix's dimensions: the batch in its order, then the others.
  const auto left = [&](int64_t d) {
    return d - std::count_if(contracted.begin(), contracted.end(), [d](int64_t c) { return c < d; });
  };
  Dims order;
  for (const int64_t d : of_matrix(true)) order.push_back(left(d));
  for (int64_t d = 0; d < matrix->shape().rank(); ++d) {
    const auto among = [d](auto list) { return std::find(list.begin(), list.end(), d) != list.end(); };
    if (!among(of_matrix(true)) && !among(contracted)) order.push_back(left(d));
  }
  // Rounded as it is written.
  return b->Reshape(b->Transpose(b->Convert(sum, dot->shape().element_type()), order), dot->shape().dims());
}

// Contracts nothing, or one element of two sides of several.
bool IsOuterProduct(const Instruction& op) {
  if (op.opcode() != Opcode::kDot || op.num_operands() != 2) return false;
  const DotView view(op);
  const Shape &lhs = op.operand(0)->shape(), &rhs = op.operand(1)->shape();
  if (view.lhs_contracting().empty())
    return lhs.element_type() == op.shape().element_type() && rhs.element_type() == op.shape().element_type();
  if (!view.lhs_batch().empty() || !IsFloat(op.shape()) || !IsFloat(lhs) || !IsFloat(rhs) ||
      lhs.NumElements() < 2 || rhs.NumElements() < 2)
    return false;
  return absl::c_all_of(view.lhs_contracting(), [&](int64_t d) { return lhs.dim(d) == 1; });
}

Instruction* AsOuterProduct(Instruction* dot, InstructionBuilder* b) {
  const DotView view(*dot);
  b->set_metadata(dot->metadata());
  int64_t next = static_cast<int64_t>(view.lhs_batch().size());
  // Where the dimensions of a side stand in the result, without those that are contracted.
  const auto spread = [&](int side) {
    const auto batch = side == 0 ? view.lhs_batch() : view.rhs_batch();
    const auto contracted = side == 0 ? view.lhs_contracting() : view.rhs_contracting();
    Instruction* operand = dot->operand(side);
    std::vector<std::pair<int64_t, int64_t>> places;  // In the result, in the operand.
    Dims sizes;
    for (int64_t d = 0; d < operand->shape().rank(); ++d) {
      if (absl::c_linear_search(contracted, d)) continue;
      const auto place = absl::c_find(batch, d);
      places.push_back(
          {place != batch.end() ? place - batch.begin() : next++, static_cast<int64_t>(sizes.size())});
      sizes.push_back(operand->shape().dim(d));
    }
    absl::c_sort(places);
    Dims permutation, into;
    for (const auto& [in_result, in_operand] : places) {
      into.push_back(in_result);
      permutation.push_back(in_operand);
    }
    operand = b->Transpose(b->Reshape(operand, sizes), permutation);
    return b->Broadcast(IsFloat(dot->shape()) ? b->Convert(operand, xla::F32) : operand, dot->shape().dims(),
                        into);
  };
  Instruction* lhs = spread(0);
  return b->Convert(b->Multiply(lhs, spread(1)), dot->shape().element_type());
}

// Elementwise of products that become sums: these lose dimensions of one element, and so does what is made of them, if in f32.
absl::flat_hash_set<const Instruction*> MadeOfSums(const Module& module, int64_t least) {
  absl::flat_hash_set<const Instruction*> made;
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      const auto is_made = [&](const Instruction* operand) { return made.contains(operand); };
      const bool is_sum = VectorSideOfBatch(*op, least, made) >= 0;
      const bool passes =
          op->opcode() == Opcode::kConvert || (IsElementwise(*op) && op->shape().element_type() == xla::F32);
      if (is_sum || (passes && absl::c_any_of(op->operands(), is_made))) made.insert(op.get());
    }
  }
  return made;
}

}  // namespace

absl::StatusOr<bool> VectorProductPass::Run(std::unique_ptr<Module>* module) {
  const auto least = static_cast<int64_t>(Thresholds().batched_tile_share() * static_cast<double>(tile_));
  const absl::flat_hash_set<const Instruction*> made_of_sums = MadeOfSums(**module, least);
  ASSIGN_OR_RETURN(
      const bool changed, ReplaceEach(module->get(), [&](Instruction* op) -> absl::StatusOr<Instruction*> {
        const int side = IsOn(Rule::kVectorProducts) ? VectorSide(*op) : -1;
        const int side_of_batch =
            IsOn(Rule::kBatchedVectorProducts) ? VectorSideOfBatch(*op, least, made_of_sums) : -1;
        const bool is_outer = side_of_batch < 0 && IsOn(Rule::kOuterProducts) && IsOuterProduct(*op);
        if (side < 0 && side_of_batch < 0 && !is_outer) return nullptr;
        InstructionBuilder builder(op->computation());
        Instruction* sum = is_outer             ? AsOuterProduct(op, &builder)
                           : side_of_batch >= 0 ? BatchAsSum(op, side_of_batch, &builder)
                                                : AsSum(op, side, &builder);
        RETURN_IF_ERROR(builder.status());
        return Marked(is_outer             ? Rule::kOuterProducts
                      : side_of_batch >= 0 ? Rule::kBatchedVectorProducts
                                           : Rule::kVectorProducts,
                      sum);
      }));
  // Sums' computations stand before those that call them.
  if (changed) (*module)->RemoveUnreachableComputations();
  return changed;
}

}  // namespace toroid
