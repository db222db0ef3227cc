#include "hlo/gradient/dot.h"

#include <algorithm>
#include <vector>

#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

struct Side {
  int operand;
  absl::Span<const int64_t> batch, contracting;
  std::vector<int64_t> free;
  int64_t free_at;  // In the result.
};

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::vector<int64_t> FreeDims(int rank, absl::Span<const int64_t> batch, absl::Span<const int64_t> contracting) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(batch, d) && !Contains(contracting, d)) free.push_back(d);
  }
  return free;
}

void AddTo(Pullback& p, const Side& side, const Side& other) {
  if (!p.Wants(side.operand)) return;
  InstructionBuilder& b = p.b;
  Value t = p.cotangent(), with = p.operand(other.operand);
  // Products of bf16 may have a wider result: the cotangent keeps its digits.
  if (t->shape().element_type() != with->shape().element_type()) with = b.Convert(with, t->shape().element_type());
  xla::HloInstructionProto* attrs = b.NewAttrs();
  xla::DotDimensionNumbers& numbers = *attrs->mutable_dot_dimension_numbers();
  for (size_t i = 0; i < side.batch.size(); ++i) {
    numbers.add_lhs_batch_dimensions(static_cast<int64_t>(i));
    numbers.add_rhs_batch_dimensions(other.batch[i]);
  }
  for (size_t i = 0; i < other.free.size(); ++i) {
    numbers.add_lhs_contracting_dimensions(other.free_at + static_cast<int64_t>(i));
    numbers.add_rhs_contracting_dimensions(other.free[i]);
  }
  if (p.op().attrs().has_precision_config()) *attrs->mutable_precision_config() = p.op().attrs().precision_config();
  const Value product = b.Op(Opcode::kDot, Shape(t->shape().element_type(), {}), {t, with}, attrs);
  // Where each dimension of the operand stands in the product: what is left of the other one is in its own order.
  std::vector<int64_t> left(other.contracting.begin(), other.contracting.end());
  std::sort(left.begin(), left.end());
  std::vector<int64_t> order(p.operand_shape(side.operand).rank());
  int64_t at = 0;
  for (const int64_t d : side.batch) order[d] = at++;
  for (const int64_t d : side.free) order[d] = at++;
  for (const int64_t of_other : left) {
    const int64_t i = std::find(other.contracting.begin(), other.contracting.end(), of_other) - other.contracting.begin();
    order[side.contracting[i]] = at++;
  }
  p.Add(side.operand, b.Transpose(product, order));
}

}  // namespace

absl::Status DotGradient(Pullback& p) {
  const DotView dot(p.op());
  Side lhs = {0, dot.lhs_batch(), dot.lhs_contracting(), {}, 0}, rhs = {1, dot.rhs_batch(), dot.rhs_contracting(), {}, 0};
  lhs.free = FreeDims(p.operand_shape(0).rank(), lhs.batch, lhs.contracting);
  rhs.free = FreeDims(p.operand_shape(1).rank(), rhs.batch, rhs.contracting);
  lhs.free_at = static_cast<int64_t>(lhs.batch.size());
  rhs.free_at = lhs.free_at + static_cast<int64_t>(lhs.free.size());
  if (p.op().attrs().dot_dimension_numbers().lhs_batch_dimensions_size() != static_cast<int>(rhs.batch.size())) {
    return absl::InvalidArgumentError("batch dimensions differ in number");
  }
  AddTo(p, lhs, rhs);
  AddTo(p, rhs, lhs);
  return absl::OkStatus();
}

}  // namespace toroid
