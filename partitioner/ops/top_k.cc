// `topk`: (b n) -> (b k), (b k): the k largest, or smallest, elements of every line, and their positions.
//
// If lines of n elements are cut over g devices, each device takes the first k of its tile, the devices
// gather these, and the first k of the gathered elements are those of the line. For each line a device sends
// k (g - 1) values and positions instead of n (g - 1) / g values. Tiles are gathered in order, so that of
// equal elements the first one wins. Tiles of fewer than k elements are gathered whole.
//
// Example: the first 8 of f32[4,4096] over 8: a device sends 4 lines of 7 x 8 values and positions, 1,792
//          bytes.
#include <cstring>

#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// True for the types of which LastInOrder knows the extremes.
bool IsKnown(PrimitiveType type) {
  const bool is_wide_float = type == xla::F16 || type == xla::BF16 || type == xla::F32 || type == xla::F64;
  return is_wide_float || (IsInt(type) && BitWidth(type) >= 8);
}

bool IsLargest(const Instruction& op) { return op.opcode() == Opcode::kCustomCall || op.attrs().largest(); }

// True if the op maps one array to values and s32 positions, in a known type: the
// results of tiles can then be merged.
bool CanMerge(const Instruction& op) {
  if (op.num_operands() != 1 || !op.shape().IsTuple() || op.shape().tuple_shapes().size() != 2) return false;
  const Shape& x = op.operand(0)->shape();
  const Shape& values = op.shape().tuple_shape(0);
  const Shape& positions = op.shape().tuple_shape(1);
  const PrimitiveType type = x.element_type();
  if (!values.IsArray() || values.rank() != x.rank() || values.element_type() != type ||
      !positions.SameDims(values) || positions.element_type() != xla::S32) {
    return false;
  }
  const int last = x.rank() - 1;
  return values.dims().first(last) == x.dims().first(last) && values.dim(last) <= x.dim(last) &&
         x.NumElements() > 0 && x.dim(last) <= INT32_MAX && IsKnown(type);
}

int64_t CountOf(const Instruction& op) {
  const Shape& values = op.shape().tuple_shape(0);
  return values.dim(values.rank() - 1);
}

// The value that comes last in the order of the op. Floats are in total order, whose extremes are NaNs.
Literal LastInOrder(const Instruction& op, PrimitiveType type) {
  Literal last(Shape(type, {}));
  const int64_t width = ByteWidth(type);
  char* bytes = last.mutable_bytes();
  std::memset(bytes, IsLargest(op) && IsInt(type) ? 0 : 0xff, width);
  // The byte with the sign.
  if (!IsUnsignedInt(type) && !IsLargest(op)) bytes[width - 1] = 0x7f;
  if (IsSignedInt(type) && IsLargest(op)) bytes[width - 1] = static_cast<char>(0x80);
  return last;
}

// Emits the op over `x`. Returns values and positions.
std::vector<Instruction*> FirstOf(const OpContext& context, Instruction* x) {
  SpmdBuilder& b = *context.b;
  Dims dims(x->shape().dims().begin(), x->shape().dims().end());
  dims.back() = CountOf(*context.op);
  const Shape shape = Shape::Tuple({Shape(x->shape().element_type(), dims), Shape(xla::S32, dims)});
  if (context.op->opcode() == Opcode::kCustomCall) {
    return EmitCustomCall(b, *context.op, {x}, shape);
  }
  return b.Flatten(b.Clone(*context.op, shape, {x}));
}

// y[.., i] = x[.., at[.., i]]
Instruction* TakeAlongLast(SpmdBuilder& b, Instruction* x, Instruction* at) {
  const auto dims = at->shape().dims();
  const int64_t n = x->shape().dim(x->shape().rank() - 1), lines = x->shape().NumElements() / n;
  const PrimitiveType type = SpmdBuilder::IndexType(x->shape().NumElements());
  const int64_t flat[] = {lines, at->shape().dim(at->shape().rank() - 1)};
  Instruction* line = b.Iota(type, flat, 0);
  Instruction* first = b.Multiply(line, b.Broadcast(b.IntScalar(n, type), flat));
  Instruction* indices = b.Add(first, b.Convert(b.Reshape(at, flat), type));
  const int64_t all[] = {lines * n};
  xla::GatherDimensionNumbers numbers;
  numbers.add_collapsed_slice_dims(0);
  numbers.add_start_index_map(0);
  numbers.set_index_vector_dim(2);
  return b.Reshape(b.Gather(b.Reshape(x, all), indices, numbers, {1}), dims);
}

ShardingRule TopKShardingRule(const Instruction& op) {
  const int rank = op.operand(0)->shape().rank();
  ShardingRule rule = BatchRule(op, rank - 1);
  for (TensorFactors& result : rule.results) result[rank - 1] = DimFactors();
  if (CanMerge(op)) {
    rule.factors[rank - 1].kind = FactorKind::kReduction;
    rule.leaves_partial = false;
  }
  return rule;
}

std::vector<Instruction*> PartitionTopK(OpContext& context) {
  SpmdBuilder& b = *context.b;
  Instruction* x = context.operands[0];
  const int last = x->shape().rank() - 1;
  if (!context.IsCut(0, last)) return FirstOf(context, x);
  const AxisList& axes = context.AxesOf(0, last);
  const int64_t n = context.GlobalDim(0, last), tile = x->shape().dim(last);
  if (tile < CountOf(*context.op)) {
    return FirstOf(context, b.SliceAlong(b.AllGather(x, axes, last), last, 0, n));
  }
  // Padding ranks behind all elements. Tiles are gathered in order, so equal elements stay in order of
  // position.
  x = b.MaskPadding(x, last, n, axes, b.Constant(LastInOrder(*context.op, x->shape().element_type())));
  const std::vector<Instruction*> own = FirstOf(context, x);
  Instruction* offset = b.Broadcast(b.Offset(axes, tile, xla::S32), own[1]->shape().dims());
  Instruction* values = b.AllGather(own[0], axes, last);
  Instruction* positions = b.AllGather(b.Add(own[1], offset), axes, last);
  const std::vector<Instruction*> merged = FirstOf(context, values);
  return {merged[0], TakeAlongLast(b, positions, merged[1])};
}

}  // namespace

const OpFamily families::kTopK = {TopKShardingRule, PartitionTopK};

}  // namespace toroid
