#include "simulator/compiler/rewrites/transposed_operands.h"

#include <algorithm>
#include <vector>

#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

// The numbers of `dims`, each through `map`.
void MapInto(absl::Span<const int64_t> map, google::protobuf::RepeatedField<int64_t>* dims) {
  for (int64_t& d : *dims) d = map[d];
}

}  // namespace

Instruction* WithoutTransposedOperand(const Instruction& dot, Computation* computation) {
  for (int side = 0; side < 2; ++side) {
    const Instruction* transpose = dot.operand(side);
    if (transpose->opcode() != Opcode::kTranspose) continue;
    const auto permutation = transpose->dimensions();
    const DotView view(dot);
    const auto batch = side == 0 ? view.lhs_batch() : view.rhs_batch();
    const auto contracting = side == 0 ? view.lhs_contracting() : view.rhs_contracting();
    int64_t last = -1;
    bool in_order = true;
    for (int64_t d = 0; d < transpose->shape().rank(); ++d) {
      const auto among = [d](auto list) { return std::find(list.begin(), list.end(), d) != list.end(); };
      if (among(batch) || among(contracting)) continue;
      in_order &= permutation[d] > last;
      last = permutation[d];
    }
    if (!in_order) continue;
    std::vector<Instruction*> operands(dot.operands().begin(), dot.operands().end());
    operands[side] = transpose->operand(0);
    Instruction* direct = computation->AddClone(dot, dot.shape(), operands);
    xla::DotDimensionNumbers* numbers = direct->MutableAttrs()->mutable_dot_dimension_numbers();
    MapInto(permutation,
            side == 0 ? numbers->mutable_lhs_batch_dimensions() : numbers->mutable_rhs_batch_dimensions());
    MapInto(permutation, side == 0 ? numbers->mutable_lhs_contracting_dimensions()
                                   : numbers->mutable_rhs_contracting_dimensions());
    if (Instruction* simple = WithoutTransposedOperand(*direct, computation)) return simple;
    return direct;
  }
  return nullptr;
}

// Of a dot that contracts nothing. Result dimensions: batch, free ones of the left side, free ones of the right side.

}  // namespace toroid
