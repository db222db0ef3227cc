// Products of groups of rows: ragged-dot(lhs, rhs, sizes). `sizes` are the row counts of consecutive groups
// along one dimension of the lhs, the ragged one.
//
// Factors are those of the dot, and one for the dimension of the groups:
//   ragged free dimension         (b m k), (g b k n), (g) -> (b m n); g is a reduction: rows of other
//                                 devices' groups give zero
//   ragged contracting dimension  (b m k), (b k n), (g) -> (g b m n); g is never cut: each device has terms
//                                 of all groups
//   ragged batch dimension        a dot
//
// The group dimension of `sizes` is never cut, since where a group begins depends on the sizes before it. If
// the rows or the groups are cut, the local program computes how many rows of each of the device's groups lie
// in its shard. `sizes` of more than one dimension: batch dimensions among them are cut as in the operands.
// Groups are not cut, nor are free or contracting dimensions by which the sizes differ.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// The ragged dimension of the lhs, its role, and the group dimension of the rhs.
struct RaggedDims {
  explicit RaggedDims(const Instruction& op)
      : numbers(op.attrs().ragged_dot_dimension_numbers()),
        dot(numbers.dot_dimension_numbers()),
        ragged(numbers.lhs_ragged_dimensions(0)) {
    is_batch = absl::c_linear_search(dot.lhs_batch(), ragged);
    is_contracting = absl::c_linear_search(dot.lhs_contracting(), ragged);
    if (numbers.rhs_group_dimensions_size() > 0) group = numbers.rhs_group_dimensions(0);
  }

  const xla::RaggedDotDimensionNumbers& numbers;
  const DotView dot;
  const int64_t ragged;
  int64_t group = -1;  // Dimension of the rhs; -1: the rhs has no groups.
  bool is_batch = false, is_contracting = false;
};

// The row counts of this device's G groups within rows [begin, begin + rows) of all `size` rows, from the
// sizes of all groups: s64[.., G]. If groups are cut over `axes`, G + 1 counts: an extra first one counts the
// rows in front of this device's groups.
Instruction* LocalSizes(SpmdBuilder& b, Instruction* sizes, int64_t size, Instruction* begin, int64_t rows,
                        const AxisList& axes, int64_t groups) {
  const int last = sizes->shape().rank() - 1;
  const auto full = [&](int64_t value, absl::Span<const int64_t> dims) {
    return b.Broadcast(b.IntScalar(value, xla::S64), dims);
  };
  Instruction* wide = b.Convert(sizes, xla::S64);
  Dims dims(wide->shape().dims().begin(), wide->shape().dims().end());
  wide = b.Clamp(full(0, dims), wide, full(size, dims));
  if (!axes.empty()) {  // Groups of padding have no rows.
    wide = b.PadAlong(wide, last, 0, groups * b.mesh().Product(axes) - dims[last]);
    dims = Dims(wide->shape().dims().begin(), wide->shape().dims().end());
  }
  Instruction* ends = b.CumulativeReduce(Opcode::kAdd, wide, last);
  Instruction* first = b.Broadcast(begin, dims);
  ends = b.Clamp(full(0, dims), b.Subtract(b.Minimum(ends, full(size, dims)), first), full(rows, dims));
  Instruction* starts = b.SliceAlong(b.PadAlong(ends, last, 1, 0), last, 0, dims[last]);
  if (axes.empty()) return b.Subtract(ends, starts);
  Instruction* own = b.Offset(axes, groups, xla::S64);
  Instruction* own_ends = b.DynamicSliceAlong(ends, last, own, groups);
  Instruction* own_starts = b.DynamicSliceAlong(starts, last, own, groups);
  return b.Concatenate({b.SliceAlong(own_starts, last, 0, 1), b.Subtract(own_ends, own_starts)}, last);
}

ShardingRule RaggedDotShardingRule(const Instruction& op) {
  const RaggedDims dims(op);
  const Shape& lhs_shape = op.operand(0)->shape();
  const Shape& rhs_shape = op.operand(1)->shape();
  const Shape& sizes_shape = op.operand(2)->shape();
  const bool sizes_differ = sizes_shape.rank() > 1;
  ShardingRule rule;
  TensorFactors lhs(lhs_shape.rank()), rhs(rhs_shape.rank()), sizes(sizes_shape.rank()), result;
  if (dims.is_contracting) result.emplace_back();
  for (size_t i = 0; i < dims.dot.lhs_batch().size(); ++i) {
    const int64_t l = dims.dot.lhs_batch()[i], r = dims.dot.rhs_batch()[i];
    lhs[l] = rhs[r] = rule.AddFactor(lhs_shape.dim(l));
    result.push_back(lhs[l]);
    if (sizes_differ && !dims.is_batch && i + 1 < sizes.size()) sizes[i] = lhs[l];
  }
  // Sizes may differ by free (contracting) dimensions in front of a ragged free (contracting) dimension.
  const auto kind = [&](int64_t l, FactorKind kind) {
    const bool is_like_ragged = !dims.is_batch && dims.is_contracting == (kind == FactorKind::kReduction);
    return sizes_differ && is_like_ragged && l < dims.ragged ? FactorKind::kBlocked : kind;
  };
  for (size_t i = 0; i < dims.dot.lhs_contracting().size(); ++i) {
    const int64_t l = dims.dot.lhs_contracting()[i], r = dims.dot.rhs_contracting()[i];
    lhs[l] = rhs[r] = rule.AddFactor(lhs_shape.dim(l), kind(l, FactorKind::kReduction));
  }
  for (int l = 0; l < lhs_shape.rank(); ++l) {
    if (lhs[l].size > 0) continue;
    lhs[l] = rule.AddFactor(lhs_shape.dim(l), kind(l, FactorKind::kPassThrough));
    result.push_back(lhs[l]);
  }
  if (dims.group >= 0) {
    rhs[dims.group] = rule.AddFactor(rhs_shape.dim(dims.group),
                                     sizes_differ ? FactorKind::kBlocked : FactorKind::kReduction);
  }
  for (int r = 0; r < rhs_shape.rank(); ++r) {
    if (rhs[r].size > 0) continue;
    rhs[r] = rule.AddFactor(rhs_shape.dim(r));
    result.push_back(rhs[r]);
  }
  rule.operands = {lhs, rhs, sizes};
  rule.results.push_back(result);
  // Each row is multiplied with the matrix of one group only.
  const double groups =
      dims.group < 0 ? 1 : std::max<double>(1, static_cast<double>(rhs_shape.dim(dims.group)));
  rule.flops_per_point = 2 / groups;
  AddLinearityOfProduct(op, &rule);
  return rule;
}

std::vector<Instruction*> PartitionRaggedDot(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const RaggedDims dims(*context.op);
  const AxisList rows = context.AxesOf(0, dims.ragged);
  const AxisList groups = dims.group < 0 ? AxisList() : context.AxesOf(1, dims.group);
  if (dims.is_batch || (rows.empty() && groups.empty())) return PartitionByRule(context);
  const int64_t size = context.GlobalDim(0, dims.ragged),
                local = context.operands[0]->shape().dim(dims.ragged);
  const int64_t num_groups = dims.group < 0 ? 0 : context.operands[1]->shape().dim(dims.group);
  Instruction* begin = rows.empty() ? b.IntScalar(0, xla::S64) : b.Offset(rows, local, xla::S64);
  // Padding rows and padding groups are counted in no group of this device.
  context.operands[2] = LocalSizes(b, context.operands[2], size, begin, local, groups, num_groups);
  if (!groups.empty()) {
    // Rows in front of this device's groups are multiplied with a zero matrix, and zeroed, as 0 x infinity is
    // NaN.
    Instruction* skipped = b.Reshape(b.SliceAlong(context.operands[2], 0, 0, 1), {});
    const auto lhs_dims = context.operands[0]->shape().dims();
    const PrimitiveType type = context.operands[0]->shape().element_type();
    context.operands[0] = b.Select(b.InRange(lhs_dims, static_cast<int>(dims.ragged), skipped, nullptr),
                                   context.operands[0], b.Broadcast(b.Zero(type), lhs_dims));
    context.operands[1] = b.PadAlong(context.operands[1], dims.group, 1, 0);
  }
  // Padding of cut contracting dimensions becomes zero in both operands.
  for (size_t i = 0; i < dims.dot.lhs_contracting().size(); ++i) {
    for (const int side : {0, 1}) {
      const int d =
          static_cast<int>(side == 0 ? dims.dot.lhs_contracting()[i] : dims.dot.rhs_contracting()[i]);
      if (!context.IsCut(side, d)) continue;
      Instruction*& operand = context.operands[side];
      operand = b.MaskPadding(operand, d, context.GlobalDim(side, d), context.AxesOf(side, d),
                              b.Zero(operand->shape().element_type()));
    }
  }
  return context.CloneLocal();
}

}  // namespace

const OpFamily families::kRaggedDot = {RaggedDotShardingRule, PartitionRaggedDot};

}  // namespace toroid
