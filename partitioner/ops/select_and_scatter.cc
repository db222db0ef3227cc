// `select-and-scatter` on tiled dimensions, by halo exchange: the gradient of pooling, overlapping and padded
// windows included.
//
// Window p covers operand rows [p s - low, p s - low + k) and adds source row p to the row that it selects.
// Tile i of t operand rows fetches the source rows and the operand rows of all windows that touch it, and
// keeps its own rows of the result:
//   first window   p0 = floor((t i + low - k + s) / s)
//   its first row  p0 s - low, an affine function of i if s divides t; otherwise s - 1 more rows are fetched
//
// Windows beyond the source add the neutral element of the scatter computation, which must be a known
// reducer. If windows are padded, rows outside of the operand hold a NaN whose bits no arithmetic produces,
// and the select computation prefers any element to it. Integer types have no such value, so with padded
// windows they are not cut.
// Example: k = 3, s = 2, f32[64] over 4: tile i of 16 rows has 9 windows, from window 8 i - 1 on, over rows
//          from 16 i - 2 on. It fetches one row of the source and three of the operand.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/reshard/halo_exchange.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

// The bits of a NaN that marks positions outside of the array; no arithmetic produces it. nullopt: the type
// has none.
std::optional<uint64_t> NoElement(PrimitiveType type) {
  switch (type) {
    case xla::BF16:
      return 0x7fe5;
    case xla::F16:
      return 0x7fa5;
    case xla::F32:
      return 0x7fe5a3c1;
    case xla::F64:
      return 0x7ffca5e3c1b2d4f6;
    default:
      return std::nullopt;
  }
}

PrimitiveType BitsOf(PrimitiveType type) {
  return type == xla::F64 ? xla::U64 : type == xla::F32 ? xla::U32 : xla::U16;
}

// NoElement(type) as a scalar of type `as`.
Instruction* NoElementScalar(InstructionBuilder& b, PrimitiveType type, PrimitiveType as) {
  Literal value(Shape(as, {}));
  const uint64_t bits = *NoElement(type);
  std::copy_n(reinterpret_cast<const char*>(&bits), ByteWidth(type), value.mutable_bytes());
  return b.Constant(value);
}

// The select computation for windows that reach beyond the array: it prefers any element to the NaN of
// NoElement.
Computation* SelectAmongElements(const OpContext& context) {
  const Computation& select = *context.op->called(0);
  const PrimitiveType type = select.parameter(0)->shape().element_type();
  InstructionBuilder b = context.b->InNewComputation(absl::StrCat(select.name(), ".among_elements"));
  std::vector<Instruction*> parameters, missing;
  for (int i = 0; i < 2; ++i) parameters.push_back(b.Parameter(select.parameter(i)->shape(), ""));
  for (Instruction* parameter : parameters) {
    Instruction* own = b.Op(Opcode::kBitcastConvert, Shape(BitsOf(type), {}), {parameter});
    missing.push_back(b.Compare(own, NoElementScalar(b, type, BitsOf(type)), "EQ"));
  }
  const std::vector<Instruction*> copies = context.CopyInto(select, parameters, b.computation());
  Instruction* keep = b.Or(missing[1], copies[select.root()->index()]);
  return b.Finish(b.And(b.Not(missing[0]), keep));
}

// The source and operand rows that a tile of t operand rows needs along one dimension; see the head of this
// file.
struct TileOfWindows {
  int64_t size, stride, low;
  int64_t rows;  // t
  bool aligned;  // True if all tiles begin at the same phase of the windows' stride.
  int64_t windows, length;

  TileOfWindows(const WindowDim& window, int64_t t)
      : size(window.size), stride(window.stride), low(window.padding_low), rows(t), aligned(t % stride == 0) {
    windows = aligned ? FloorOfRatio(t - 1 + low, stride) - FloorOfRatio(low - size + stride, stride) + 1
                      : CeilOfRatio(t + size - 1, stride);
    length = (windows - 1) * stride + size;
  }
  TileWindows OfSource() const { return {rows, low - size + stride, windows, stride}; }
  TileWindows OfOperand() const {
    if (aligned) return {rows, FloorOfRatio(low - size + stride, stride) * stride - low, length};
    return {rows, 1 - size, length + stride - 1};
  }
  // (t i + low - size + stride) modulo the stride.
  Instruction* Phase(SpmdBuilder& b, const AxisList& axes) const {
    const int64_t shift = (low - size + stride) - FloorOfRatio(low - size + stride, stride) * stride;
    if (aligned) return b.IntScalar(shift);
    return b.Binary(Opcode::kRemainder, b.AffineOffset(axes, rows % stride, shift, xla::S32),
                    b.IntScalar(stride));
  }
};

bool CanFetch(const Instruction& op, const WindowDim& window) {
  if (window.base_dilation != 1 || window.window_dilation != 1 || window.padding_low < 0 ||
      window.padding_high < 0 || !ClassifyReducer(*op.called(1)).has_value()) {
    return false;
  }
  return (window.padding_low == 0 && window.padding_high == 0) ||
         NoElement(op.shape().element_type()).has_value();
}

ShardingRule SelectAndScatterShardingRule(const Instruction& op) {
  ShardingRule rule = PointwiseRule(op.shape().dims(), 2);
  for (int d = 0; d < op.shape().rank(); ++d) {
    const WindowDim window = WindowView(op)[d];
    if (window.IsTrivial()) continue;
    rule.factors[d].kind = CanFetch(op, window) ? FactorKind::kPermuting : FactorKind::kNeedsReplication;
  }
  rule.operands.emplace_back();  // The init value, a scalar.
  return rule;
}

std::vector<OperandWindows> ReadsOfSelectAndScatter(const Instruction& op, int dim, int64_t tiles) {
  const TileOfWindows tile(WindowView(op)[dim], TileRows(op, dim, tiles));
  return {{0, dim, tile.OfOperand(), op.operand(0)->shape().dim(dim)},
          {1, dim, tile.OfSource(), op.operand(1)->shape().dim(dim)}};
}

std::vector<Instruction*> PartitionSelectAndScatter(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const Shape local = context.ResultShape();
  const PrimitiveType type = local.element_type();
  std::vector<int> cut;
  bool beyond = false;  // True if windows reach beyond the array.
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  for (int d = 0; d < local.rank(); ++d) {
    const AxisList& axes = context.results[0].dims[d];
    if (axes.empty() || context.rule->factors[d].kind != FactorKind::kPermuting) continue;
    cut.push_back(d);
    WindowDim window = WindowView(*context.op)[d];
    const bool is_padded = window.padding_low > 0 || window.padding_high > 0;
    beyond |= is_padded;
    const TileOfWindows tile(window, local.dim(d));
    const int64_t n = context.GlobalDim(0, d), m = context.GlobalDim(1, d);
    Instruction*& operand = context.operands[0];
    operand = is_padded ? FetchMaskedWindow(b, operand, d, n, axes, tile.OfOperand(),
                                            NoElementScalar(b, type, type))
                        : FetchWindow(b, operand, d, n, axes, axes, tile.OfOperand());
    if (!tile.aligned) {
      Instruction* first = b.Subtract(b.IntScalar(tile.stride - 1), tile.Phase(b, axes));
      operand = b.DynamicSliceAlong(operand, d, first, tile.length);
    }
    // Windows beyond the source add the neutral element.
    Instruction* nothing = b.Constant(NeutralElement(*ClassifyReducer(*context.op->called(1)), type));
    context.operands[1] = FetchMaskedWindow(b, context.operands[1], d, m, axes, tile.OfSource(), nothing);
    window.padding_low = window.padding_high = 0;
    WindowView::Set(attrs, d, window);
  }
  if (cut.empty()) return context.CloneLocal();
  Instruction* result = b.Clone(*context.op, context.operands[0]->shape(), context.operands);
  result->set_attrs(attrs);
  Computation* called[] = {beyond ? SelectAmongElements(context) : b.CopyOf(context.op->called(0)),
                           b.CopyOf(context.op->called(1))};
  result->set_called(called);
  for (const int d : cut) {
    const TileOfWindows tile(WindowView(*context.op)[d], local.dim(d));
    // The tile begins size - stride + phase rows after its first window does. Rows that no window covers
    // become the init value.
    const int64_t before = std::max<int64_t>(0, tile.stride - tile.size);
    const int64_t behind = std::max<int64_t>(0, tile.size - 1 + tile.rows - tile.length);
    result = b.PadAlong(result, d, before, behind, context.operands[2]);
    Instruction* first =
        b.Add(tile.Phase(b, context.results[0].dims[d]), b.IntScalar(tile.size - tile.stride + before));
    result = b.DynamicSliceAlong(result, d, first, tile.rows);
  }
  return {result};
}

}  // namespace

const OpFamily families::kSelectAndScatter = {SelectAndScatterShardingRule, PartitionSelectAndScatter,
                                              ReadsOfSelectAndScatter};

}  // namespace toroid
