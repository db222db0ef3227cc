#include "simulator/compiler/rewrites/simplifier.h"

namespace toroid {
namespace {

// Of `dims`, which one `d` is; -1 if none.
int IndexOf(absl::Span<const int64_t> dims, int64_t d) {
  const auto at = std::find(dims.begin(), dims.end(), d);
  return at == dims.end() ? -1 : static_cast<int>(at - dims.begin());
}

// A convolution that makes of a convolution's results what `slice` takes of them: with less padding, or with images cut. Null
// if it takes more than places, or steps.
// Example: a causal filter of 4 over 1024 steps, padded by 3 on both sides, of whose 1027 results the first 1024 are taken, has
// padding 3_0.
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

}  // namespace

// What is put together to be rounded is rounded before: fewer bytes are put together.
Instruction* Simplifier::SimplifiedConvert(Instruction* convert) {
  const Instruction* whole = convert->operand(0);
  const bool narrows = ByteWidth(convert->shape().element_type()) < ByteWidth(whole->shape().element_type());
  if (whole->opcode() != Opcode::kConcatenate || !narrows || !convert->control_predecessors().empty() ||
      !Uses(Rule::kRoundedBeforeJoined))
    return nullptr;
  if (whole->index() >= static_cast<int>(readers_.size()) || readers_[whole->index()] != 1) return nullptr;
  std::vector<Instruction*> pieces;
  for (Instruction* piece : whole->operands()) {
    Shape shape = piece->shape();
    shape.set_element_type(convert->shape().element_type());
    pieces.push_back(computation_->AddClone(*convert, shape, {piece}));
  }
  return computation_->AddClone(*whole, convert->shape(), pieces);
}

// A pad by less than nothing.
Instruction* Simplifier::CutByPad(Instruction* pad) {
  const PadView around(*pad);
  Instruction* x = pad->operand(0);
  bool cuts = false;
  for (int d = 0; d < pad->shape().rank(); ++d) {
    if (around[d].low > 0 || around[d].high > 0 || around[d].interior != 0) return nullptr;
    cuts |= around[d].low < 0 || around[d].high < 0;
  }
  if (!cuts) return x;
  xla::HloInstructionProto* attrs;
  Instruction* slice = computation_->Add(Opcode::kSlice, pad->shape(), {x}, &attrs);
  for (int d = 0; d < pad->shape().rank(); ++d) {
    attrs->add_slice_dimensions();
    SliceView::Set(attrs, d, {-around[d].low, x->shape().dim(d) + around[d].high, 1});
  }
  slice->set_metadata(pad->metadata());
  if (Instruction* simple = SimplifiedSlice(slice)) return simple;
  return slice;
}

// A piece of what a convolution makes for nothing else: a convolution that makes less.
Instruction* Simplifier::SimplifiedSlice(Instruction* slice) {
  const Instruction* made = slice->operand(0);
  const bool is_only = made->index() < static_cast<int>(readers_.size()) && readers_[made->index()] == 1;
  return is_second_ && is_only && made->opcode() == Opcode::kConvolution && Uses(Rule::kCutConvolutions)
             ? ConvolutionOfSlice(*slice, computation_)
             : nullptr;
}

}  // namespace toroid
