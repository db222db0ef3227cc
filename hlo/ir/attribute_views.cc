#include "hlo/ir/attribute_views.h"

namespace toroid {

void WindowView::Set(xla::HloInstructionProto* attrs, int i, const WindowDim& dim) {
  xla::WindowDimension* to = attrs->mutable_window()->mutable_dimensions(i);
  to->set_size(dim.size);
  to->set_stride(dim.stride);
  to->set_padding_low(dim.padding_low);
  to->set_padding_high(dim.padding_high);
  to->set_base_dilation(dim.base_dilation);
  to->set_window_dilation(dim.window_dilation);
  to->set_window_reversal(dim.reversed);
}

void SliceView::Set(xla::HloInstructionProto* attrs, int d, const SliceBounds& bounds) {
  auto* to = attrs->mutable_slice_dimensions(d);
  to->set_start(bounds.start);
  to->set_limit(bounds.limit);
  to->set_stride(bounds.stride);
}

void PadView::Set(xla::HloInstructionProto* attrs, int d, const EdgePadding& padding) {
  auto* to = attrs->mutable_padding_config()->mutable_dimensions(d);
  to->set_edge_padding_low(padding.low);
  to->set_edge_padding_high(padding.high);
  to->set_interior_padding(padding.interior);
}

}  // namespace toroid
