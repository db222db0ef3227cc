#include "partitioner/ops/sort.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"

namespace toroid {
namespace {

// Of the rows of the results along the sorted dimension, how many are read, counted from the first: fewer than all only
// where slices alone read them.
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

// The op over other operands, one result each.
std::vector<Instruction*> SortAgain(const OpContext& context, absl::Span<Instruction* const> operands,
                                    Computation* less) {
  SpmdBuilder& b = *context.b;
  std::vector<Shape> shapes;
  for (const Instruction* operand : operands) shapes.push_back(operand->shape());
  Instruction* sorted = b.Clone(*context.op, shapes.size() == 1 ? shapes[0] : Shape::Tuple(shapes), operands);
  Computation* called[] = {less};
  sorted->set_called(called);
  return b.Flatten(sorted);
}

// The comparison of rows with one flag more: rows with a flag come behind all others.
Computation* LessWithFlag(const OpContext& context) {
  const Computation& less = *context.op->called(0);
  InstructionBuilder b = context.b->InNewComputation(absl::StrCat(less.name(), ".flagged"));
  std::vector<Instruction*> arguments;
  for (const Instruction* parameter : less.parameters()) arguments.push_back(b.Parameter(parameter->shape(), ""));
  Instruction* left = b.Parameter(Shape(xla::PRED, {}), "");
  Instruction* right = b.Parameter(Shape(xla::PRED, {}), "");
  const std::vector<Instruction*> copies = CloneInstructions(less, arguments, b.computation());
  for (Instruction* copy : copies) {
    std::vector<Computation*> called;
    for (const Computation* callee : copy->called()) called.push_back(context.copy_computation(callee));
    copy->set_called(called);
  }
  return b.Finish(b.And(b.Not(left), b.Or(right, copies[less.root()->index()])));
}

}  // namespace

ShardingRule SortShardingRule(const Instruction& instruction) {
  ShardingRule rule = BatchRule(instruction, instruction.operand(0)->shape().rank());
  const int dim = static_cast<int>(instruction.dimension());
  rule.factors[dim].kind = FactorKind::kNeedsReplication;
  if (RowsRead(instruction) < instruction.operand(0)->shape().dim(dim)) {
    rule.factors[dim].kind = FactorKind::kReduction;
    rule.leaves_partial = false;
    for (TensorFactors& result : rule.results) result[dim] = DimFactors();
  }
  return rule;
}

absl::StatusOr<std::vector<Instruction*>> PartitionSort(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const int dim = static_cast<int>(context.op->dimension());
  if (!context.IsCut(0, dim)) return context.CloneLocal();
  const AxisList& axes = context.AxesOf(0, dim);
  const int64_t n = context.GlobalDim(0, dim), k = std::max<int64_t>(1, RowsRead(*context.op));
  const int64_t tiles = b.mesh().Product(axes), tile = CeilOfRatio(n, tiles);
  std::vector<Instruction*> rows = context.operands;
  if (tile <= k) {
    for (Instruction*& array : rows) array = b.SliceAlong(b.AllGather(array, axes, dim), dim, 0, n);
    return SortAgain(context, rows, context.copy_computation(context.op->called(0)));
  }
  Computation* less;
  if (tile * tiles == n) {
    less = context.copy_computation(context.op->called(0));
  } else {
    less = LessWithFlag(context);
    const auto dims = rows[0]->shape().dims();
    Instruction* no = b.Broadcast(b.Constant(Literal::Scalar<bool>(false)), dims);
    rows.push_back(b.MaskPadding(no, dim, n, axes, b.Constant(Literal::Scalar<bool>(true))));
  }
  rows = SortAgain(context, rows, less);
  for (Instruction*& array : rows) array = b.AllGather(b.SliceAlong(array, dim, 0, k), axes, dim);
  rows = SortAgain(context, rows, less);
  rows.resize(context.operands.size());
  for (Instruction*& array : rows) array = b.PadAlong(b.SliceAlong(array, dim, 0, k), dim, 0, n - k);
  return rows;
}

int64_t BytesSentBySort(const Instruction& op, int factor, int64_t tiles, absl::Span<const double> operand_bytes, int64_t) {
  if (factor != static_cast<int>(op.dimension())) return 0;
  const int64_t n = op.operand(0)->shape().dim(factor), tile = CeilOfRatio(n, tiles);
  const int64_t rows = std::min(tile, RowsRead(op));
  const double bytes = std::accumulate(operand_bytes.begin(), operand_bytes.end(), 0.0);
  return static_cast<int64_t>(static_cast<double>(tiles - 1) * bytes / static_cast<double>(tile) *
                              static_cast<double>(rows));
}

}  // namespace toroid
