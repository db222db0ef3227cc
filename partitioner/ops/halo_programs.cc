// Local programs of ops that move boundaries: iota, slice, pad, reverse, concatenate.
//
// On a cut dimension the result's tile i owns rows [i t, (i + 1) t); the op says which operand rows those are, and
// a halo exchange fetches them.
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "partitioner/ops/local_program.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
namespace {

// first + step * i for every tile.
std::vector<int64_t> Linear(int64_t tiles, int64_t first, int64_t step) {
  std::vector<int64_t> values(tiles);
  for (int64_t i = 0; i < tiles; ++i) values[i] = first + step * i;
  return values;
}

}  // namespace

absl::StatusOr<std::vector<Instruction*>> PartitionIota(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const int d = static_cast<int>(context.op->dimension());
  const AxisList& axes = context.results[0].dims[d];
  if (axes.empty()) return context.CloneLocal();
  // Counted in wide integers: the element type may not hold offset and index apart as exactly as their sum.
  const Shape local = context.ResultShape();
  const PrimitiveType type = SpmdBuilder::IndexType(local.dim(d) * b.mesh().Product(axes));
  Instruction* iota = b.Iota(type, local.dims(), d);
  iota = b.Binary(Opcode::kAdd, iota, b.Broadcast(b.Offset(axes, local.dim(d), type), local.dims()));
  return std::vector<Instruction*>{b.Convert(iota, local.element_type())};
}

absl::StatusOr<std::vector<Instruction*>> PartitionSlice(OpContext& context) {
  SpmdBuilder& b = *context.b;
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  const Shape local = context.ResultShape();
  for (int d = 0; d < local.rank(); ++d) {
    auto* bounds = attrs->mutable_slice_dimensions(d);
    const int64_t n = context.GlobalDim(0, d);
    const int64_t stride = std::max<int64_t>(1, bounds->stride());
    if (!context.IsCut(0, d)) continue;
    if (bounds->start() != 0 || bounds->limit() != n || stride != 1) {
      const AxisList& axes = context.AxesOf(0, d);
      const int64_t t = local.dim(d);
      const int64_t len = (t - 1) * stride + 1;
      context.operands[0] = FetchWindow(b, context.operands[0], d, n, axes,
                                        Linear(b.mesh().Product(axes), bounds->start(), t * stride), len);
    }
    bounds->set_start(0);
    bounds->set_limit(context.operands[0]->shape().dim(d));
    bounds->set_stride(stride);
  }
  return context.CloneLocal(attrs);
}

absl::StatusOr<std::vector<Instruction*>> PartitionPad(OpContext& context) {
  SpmdBuilder& b = *context.b;
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  const Shape local = context.ResultShape();
  for (int d = 0; d < local.rank(); ++d) {
    auto* padding = attrs->mutable_padding_config()->mutable_dimensions(d);
    if (!context.IsCut(0, d) || context.rule->factors[context.rule->results[0][d].factor[0]].kind !=
                                    FactorKind::kPermuting) {
      continue;
    }
    // y[r] = x[(r - low) / step] where that is whole and inside. Tile i fetches x from the last row at or before
    // its first, spreads it and cuts to its own begin.
    const AxisList& axes = context.AxesOf(0, d);
    const int64_t tiles = b.mesh().Product(axes);
    const int64_t n = context.GlobalDim(0, d);
    const int64_t t = local.dim(d);
    const int64_t step = padding->interior_padding() + 1;
    const int64_t low = padding->edge_padding_low();
    const int64_t count = CeilOfRatio(t + step - 1, step);
    std::vector<int64_t> first(tiles), offset(tiles);
    for (int64_t i = 0; i < tiles; ++i) {
      first[i] = FloorOfRatio(i * t - low, step);
      offset[i] = i * t - low - first[i] * step;
    }
    Instruction*& x = context.operands[0];
    x = FetchMaskedWindow(b, x, d, n, axes, first, count, context.operands[1]);
    if (step > 1) {
      xla::HloInstructionProto* spread;
      Dims dims(x->shape().dims().begin(), x->shape().dims().end());
      dims[d] = (count - 1) * step + 1 + step;
      Instruction* wide = b.Add(Opcode::kPad, Shape(x->shape().element_type(), dims), {x, context.operands[1]}, &spread);
      for (int k = 0; k < local.rank(); ++k) {
        auto* p = spread->mutable_padding_config()->add_dimensions();
        if (k != d) continue;
        p->set_interior_padding(step - 1);
        p->set_edge_padding_high(step);
      }
      x = b.DynamicSlice(wide, d, b.PerTile(axes, offset), t);
    }
    padding->Clear();
  }
  return context.CloneLocal(attrs);
}

absl::StatusOr<std::vector<Instruction*>> PartitionReverse(OpContext& context) {
  SpmdBuilder& b = *context.b;
  std::vector<Instruction*> result;
  // Tiles change places with their mirror images; then every tile is reversed, and where the last tile is short the
  // rows move up by what it lacks.
  for (const int64_t dim : context.op->dimensions()) {
    const int d = static_cast<int>(dim);
    if (!context.IsCut(0, d)) continue;
    const AxisList& axes = context.AxesOf(0, d);
    const Mesh& mesh = b.mesh();
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (int64_t p = 0; p < mesh.num_devices(); ++p) {
      int64_t mirror = p;
      for (const int axis : axes) {
        const int64_t c = p / mesh.stride(axis) % mesh.size(axis);
        mirror += (mesh.size(axis) - 1 - 2 * c) * mesh.stride(axis);
      }
      pairs.emplace_back(p, mirror);
    }
    context.operands[0] = b.CollectivePermute(context.operands[0], pairs);
  }
  result = context.CloneLocal();
  for (const int64_t dim : context.op->dimensions()) {
    const int d = static_cast<int>(dim);
    if (!context.IsCut(0, d)) continue;
    const AxisList& axes = context.AxesOf(0, d);
    const int64_t tiles = b.mesh().Product(axes);
    const int64_t n = context.GlobalDim(0, d);
    const int64_t s = result[0]->shape().dim(d);
    if (s * tiles != n) {
      result[0] = FetchWindow(b, result[0], d, s * tiles, axes, Linear(tiles, s * tiles - n, s), s);
    }
  }
  return result;
}

absl::StatusOr<std::vector<Instruction*>> PartitionConcatenate(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const int d = static_cast<int>(context.op->dimension());
  const AxisList& axes = context.results[0].dims[d];
  if (axes.empty()) return context.CloneLocal();
  const int64_t tiles = b.mesh().Product(axes);
  const Shape local = context.ResultShape();
  const int64_t t = local.dim(d);
  // Each operand lands in rows [begin, begin + n) of the result; a tile takes from each what falls into it.
  Instruction* result = nullptr;
  int64_t begin = 0;
  for (int k = 0; k < context.op->num_operands(); ++k) {
    const int64_t n = context.GlobalDim(k, d);
    if (n == 0) continue;
    const std::vector<int64_t> first = Linear(tiles, -begin, t);
    Instruction* piece = FetchWindow(b, context.operands[k], d, n, axes, first, t);
    if (result == nullptr) {
      result = piece;
    } else {
      Instruction* from = b.PerTile(axes, Linear(tiles, begin, -t));
      result = b.Select(b.InRange(local.dims(), d, from, nullptr), piece, result);
    }
    begin += n;
  }
  return std::vector<Instruction*>{result};
}

}  // namespace toroid
