// Local programs of windowed ops: convolution and reduce-window over cut spatial dimensions.
//
// Output tile i owns w windows from i w. On the base spread by its dilation it reads positions
// [i w stride - low, i w stride - low + (w - 1) stride + (k - 1) dilation + 1). A halo exchange fetches the rows
// behind them, what lies outside the base is replaced by the padding value, holes of the base dilation are filled
// in, and the op runs without padding.
// Source: GShard, arXiv:2006.16668, A.4.
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "partitioner/ops/local_program.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
namespace {

// The rows that the local windows read, explicit holes and padding included; `window` is made to fit them.
Instruction* FetchBase(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes, int64_t w,
                       xla::WindowDimension* window, Instruction* fill) {
  const int64_t tiles = b.mesh().Product(axes);
  const int64_t stride = std::max<int64_t>(1, window->stride());
  const int64_t dilation = std::max<int64_t>(1, window->window_dilation());
  const int64_t step = std::max<int64_t>(1, window->base_dilation());
  const int64_t low = window->padding_low();
  const int64_t len = (w - 1) * stride + (window->size() - 1) * dilation + 1;
  std::vector<int64_t> first(tiles), offset(tiles);
  for (int64_t i = 0; i < tiles; ++i) {
    first[i] = FloorOfRatio(i * w * stride - low, step);
    offset[i] = i * w * stride - low - first[i] * step;
  }
  const int64_t count = CeilOfRatio(len + step - 1, step);
  x = FetchMaskedWindow(b, x, dim, n, axes, first, count, fill);
  if (step > 1) {
    Dims dims(x->shape().dims().begin(), x->shape().dims().end());
    dims[dim] = (count - 1) * step + 1 + step;
    xla::HloInstructionProto* attrs;
    Instruction* wide = b.Add(Opcode::kPad, Shape(x->shape().element_type(), dims), {x, fill}, &attrs);
    for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
      auto* padding = attrs->mutable_padding_config()->add_dimensions();
      if (d != dim) continue;
      padding->set_interior_padding(step - 1);
      padding->set_edge_padding_high(step);
    }
    x = b.DynamicSlice(wide, dim, b.PerTile(axes, offset), len);
  }
  window->set_base_dilation(1);
  window->set_padding_low(0);
  window->set_padding_high(0);
  return x;
}

}  // namespace

absl::StatusOr<std::vector<Instruction*>> PartitionConvolution(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const auto& numbers = context.op->attrs().convolution_dimension_numbers();
  xla::HloInstructionProto* attrs = nullptr;
  // A cut feature contraction: padding is zeroed on both sides.
  const int in_dims[2] = {static_cast<int>(numbers.input_feature_dimension()),
                          static_cast<int>(numbers.kernel_input_feature_dimension())};
  for (int side = 0; side < 2; ++side) {
    Instruction*& operand = context.operands[side];
    const int d = in_dims[side];
    operand = b.MaskPadding(operand, d, context.GlobalDim(side, d), context.AxesOf(side, d),
                            b.Zero(operand->shape().element_type()));
  }
  const Shape local = context.ResultShape();
  for (int i = 0; i < numbers.input_spatial_dimensions_size(); ++i) {
    const int d = static_cast<int>(numbers.input_spatial_dimensions(i));
    const int out = static_cast<int>(numbers.output_spatial_dimensions(i));
    const AxisList& axes = context.results[0].dims[out];
    if (axes.empty()) continue;
    if (attrs == nullptr) attrs = b.module()->New(context.op->attrs());
    Instruction*& x = context.operands[0];
    x = FetchBase(b, x, d, context.GlobalDim(0, d), axes, local.dim(out), attrs->mutable_window()->mutable_dimensions(i),
                  b.Zero(x->shape().element_type()));
  }
  return context.CloneLocal(attrs);
}

absl::StatusOr<std::vector<Instruction*>> PartitionReduceWindow(OpContext& context) {
  SpmdBuilder& b = *context.b;
  xla::HloInstructionProto* attrs = nullptr;
  const int n = context.op->num_operands() / 2;
  const Shape local = context.ResultShape();
  for (int d = 0; d < local.rank(); ++d) {
    const AxisList& axes = context.results[0].dims[d];
    const FactorKind kind = context.rule->factors[context.rule->results[0][d].factor[0]].kind;
    if (axes.empty() || kind != FactorKind::kPermuting) continue;
    if (attrs == nullptr) attrs = b.module()->New(context.op->attrs());
    const xla::WindowDimension window = attrs->window().dimensions(d);
    for (int k = 0; k < n; ++k) {
      xla::WindowDimension* changed = attrs->mutable_window()->mutable_dimensions(d);
      *changed = window;
      context.operands[k] = FetchBase(b, context.operands[k], d, context.GlobalDim(k, d), axes, local.dim(d), changed,
                                      context.operands[n + k]);
    }
  }
  return context.CloneLocal(attrs);
}

}  // namespace toroid
