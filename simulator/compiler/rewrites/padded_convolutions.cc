#include "simulator/compiler/rewrites/padded_convolutions.h"

#include <algorithm>
#include <cstdint>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

// Of `dims`, which one `d` is; -1 if none.
int IndexOf(absl::Span<const int64_t> dims, int64_t d) {
  const auto at = std::find(dims.begin(), dims.end(), d);
  return at == dims.end() ? -1 : static_cast<int>(at - dims.begin());
}

bool IsZero(const Instruction& value) {
  if (value.opcode() != Opcode::kConstant || value.shape().rank() != 0) return false;
  const absl::StatusOr<Literal> literal = LiteralOf(value);
  if (!literal.ok()) return false;
  const PrimitiveType type = value.shape().element_type();
  if (type == xla::F32) return literal->data<float>()[0] == 0;
  return type == xla::BF16 && static_cast<float>(literal->data<bfloat16>()[0]) == 0;
}

}  // namespace

Instruction* WithoutPad(const Instruction& convolution, Computation* computation) {
  Instruction* pad = convolution.operand(0);
  if (pad->opcode() != Opcode::kPad || !IsZero(*pad->operand(1))) return nullptr;
  const ConvolutionView view(convolution);
  const PadView around(*pad);
  for (int d = 0; d < pad->shape().rank(); ++d) {
    const EdgePadding edge = around[d];
    if (edge.low == 0 && edge.high == 0 && edge.interior == 0) continue;
    const int i = IndexOf(view.input_spatial(), d);
    if (i < 0 || edge.interior != 0 || convolution.attrs().window().dimensions(i).base_dilation() > 1)
      return nullptr;
  }
  Instruction* direct =
      computation->AddClone(convolution, convolution.shape(), {pad->operand(0), convolution.operand(1)});
  auto* window = direct->MutableAttrs()->mutable_window();
  for (int i = 0; i < window->dimensions_size(); ++i) {
    const EdgePadding edge = around[static_cast<int>(view.input_spatial()[i])];
    auto* along = window->mutable_dimensions(i);
    along->set_padding_low(along->padding_low() + edge.low);
    along->set_padding_high(along->padding_high() + edge.high);
  }
  return direct;
}

Instruction* ConvolutionOfSlice(const Instruction& slice, Computation* computation) {
  const Instruction& convolution = *slice.operand(0);
  const ConvolutionView view(convolution);
  const SliceView cut(slice);
  for (int d = 0; d < slice.shape().rank(); ++d) {
    if (cut[d].stride != 1) return nullptr;
    if (slice.shape().dim(d) != convolution.shape().dim(d) && IndexOf(view.output_spatial(), d) < 0)
      return nullptr;
  }
  Instruction* less =
      computation->AddClone(convolution, slice.shape(), {convolution.operand(0), convolution.operand(1)});
  auto* window = less->MutableAttrs()->mutable_window();
  for (int i = 0; i < window->dimensions_size(); ++i) {
    const int d = static_cast<int>(view.output_spatial()[i]);
    auto* along = window->mutable_dimensions(i);
    const int64_t stride = std::max<int64_t>(1, along->stride()),
                  after = convolution.shape().dim(d) - cut[d].start - slice.shape().dim(d);
    along->set_padding_low(along->padding_low() - cut[d].start * stride);
    along->set_padding_high(along->padding_high() - after * stride);
  }
  less->set_metadata(slice.metadata());
  return less;
}

}  // namespace toroid
