// `sort`: all dimensions but the sorted one pass through. The sorted one may be cut too, and is then sorted
// across tiles (column_sort.h). Shardings flow along it only if it has at least 1,024 rows: on most meshes
// shorter lines have too few rows per tile for a column sort to pay. Assignments compare its bytes with those
// of gathering all rows, and of moving the cut to another dimension.
//
// If slices read only the first k of n rows of the results, k <= n / 4 (a top-k written without an op of its
// own), no column sort is needed: every tile sorts its own rows, and the first k of each are gathered and
// sorted again. The results then have n rows on every device. The first k are those of the global result, the
// others are zeros.
//
// Example: the first 8 rows of a sort of f32[4096] and s32[4096] over 8: a device sends 7 x 8 rows, 448
//          bytes.
// Uneven: each row carries a flag, by which padding comes behind all rows.
#include <algorithm>

#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/column_sort.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// The number of rows of the results, counted from the first along the sorted dimension, that other ops read.
// Fewer than all only if slices are the only readers.
int64_t RowsRead(const Instruction& sort) {
  const int dim = static_cast<int>(sort.dimension());
  const int64_t n = sort.operand(0)->shape().dim(dim);
  const Computation& computation = *sort.computation();
  std::vector<bool> is_result(computation.size(), false);
  is_result[sort.index()] = true;
  if (computation.root() == &sort) return n;
  int64_t rows = 0;
  for (int i = sort.index() + 1; i < computation.size(); ++i) {
    const Instruction& user = *computation.instruction(i);
    bool uses = false;
    for (const Instruction* operand : user.operands()) uses |= is_result[operand->index()];
    if (!uses) continue;
    if (user.opcode() == Opcode::kGetTupleElement && computation.root() != &user) {
      is_result[i] = true;
    } else if (user.opcode() == Opcode::kSlice) {
      rows = std::max(rows, SliceView(user)[dim].limit);
    } else {
      return n;
    }
  }
  return rows;
}

// If at most 1/4 of the rows are read, the first rows of each tile are gathered instead of a column sort.
constexpr int64_t kFirstRowsIn = 4;

// No sharding flows along a sorted dimension of fewer rows. On most meshes such a dimension is gathered or
// not cut at all, and a sharding that flowed along it would cut the ops that follow again.
constexpr int64_t kLongLine = 1024;

bool ReadsFirstRows(const Instruction& sort) {
  return kFirstRowsIn * RowsRead(sort) <= sort.operand(0)->shape().dim(static_cast<int>(sort.dimension()));
}

ShardingRule SortShardingRule(const Instruction& op) {
  ShardingRule rule = BatchRule(op, op.operand(0)->shape().rank());
  const int dim = static_cast<int>(op.dimension());
  rule.factors[dim].kind =
      op.operand(0)->shape().dim(dim) < kLongLine ? FactorKind::kExchanged : FactorKind::kPermuting;
  rule.weighs_gathering = true;
  if (ReadsFirstRows(op)) {
    rule.factors[dim].kind = FactorKind::kReduction;
    rule.leaves_partial = false;
    for (TensorFactors& result : rule.results) result[dim] = DimFactors();
  }
  return rule;
}

std::vector<Instruction*> PartitionSort(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const int dim = static_cast<int>(context.op->dimension());
  if (!context.IsCut(0, dim)) return context.CloneLocal();
  if (context.op->operand(0)->shape().NumElements() == 0) {
    std::vector<Instruction*> nothing;
    for (size_t i = 0; i < context.results.size(); ++i) {
      const Shape shape = context.ResultShape(static_cast<int>(i));
      nothing.push_back(b.Zeros(shape.element_type(), shape.dims()));
    }
    return nothing;
  }
  if (!ReadsFirstRows(*context.op)) return ColumnSort(context);
  const AxisList& axes = context.AxesOf(0, dim);
  const int64_t n = context.GlobalDim(0, dim), k = std::max<int64_t>(1, RowsRead(*context.op));
  const int64_t tiles = b.mesh().Product(axes), tile = CeilOfRatio(n, tiles);
  std::vector<Instruction*> rows = context.operands;
  if (tile <= k) {
    for (Instruction*& array : rows) array = b.SliceAlong(b.AllGather(array, axes, dim), dim, 0, n);
    return SortOf(context, rows, b.CopyOf(context.op->called(0)));
  }
  Computation* less;
  if (tile * tiles == n) {
    less = b.CopyOf(context.op->called(0));
  } else {
    less = LessWithFlag(context);
    const auto dims = rows[0]->shape().dims();
    Instruction* no = b.Broadcast(b.Constant(Literal::Scalar<bool>(false)), dims);
    rows.push_back(b.MaskPadding(no, dim, n, axes, b.Constant(Literal::Scalar<bool>(true))));
  }
  rows = SortOf(context, rows, less);
  for (Instruction*& array : rows) array = b.AllGather(b.SliceAlong(array, dim, 0, k), axes, dim);
  rows = SortOf(context, rows, less);
  rows.resize(context.operands.size());
  for (Instruction*& array : rows) array = b.PadAlong(b.SliceAlong(array, dim, 0, k), dim, 0, n - k);
  return rows;
}

}  // namespace

const OpFamily families::kSort = {SortShardingRule, PartitionSort};

}  // namespace toroid
