#include "simulator/compiler/rewrites/simplifier.h"

namespace toroid {

Instruction* Simplifier::SliceOfSlice(Instruction* slice) {
  const Instruction* outer = slice->operand(0);
  const SliceView cut(*slice), before(*outer);
  xla::HloInstructionProto* attrs;
  Instruction* direct = computation_->Add(Opcode::kSlice, slice->shape(), {outer->operand(0)}, &attrs);
  for (int d = 0; d < slice->shape().rank(); ++d) {
    attrs->add_slice_dimensions();
    const int64_t start = before[d].start + cut[d].start * before[d].stride,
                  stride = before[d].stride * cut[d].stride;
    SliceView::Set(attrs, d, {start, start + (slice->shape().dim(d) - 1) * stride + 1, stride});
  }
  direct->set_metadata(slice->metadata());
  return direct;
}

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

// A piece of a piece: of the whole. A piece of what a padding makes: padded by less, or cut.
Instruction* Simplifier::SimplifiedSlice(Instruction* slice) {
  const Instruction* pad = slice->operand(0);
  if (pad->opcode() == Opcode::kSlice && slice->shape().NumElements() > 0 && Uses(Rule::kSlicesJoin))
    return SliceOfSlice(slice);
  if (IsElementwise(*pad)) return is_second_ && Uses(Rule::kMadeOfSlices) ? MadeOfSlices(slice) : nullptr;
  if (pad->opcode() == Opcode::kConvolution) {
    const bool is_only = pad->index() < static_cast<int>(readers_.size()) && readers_[pad->index()] == 1;
    return is_second_ && is_only && Uses(Rule::kCutConvolutions) ? ConvolutionOfSlice(*slice, computation_)
                                                                 : nullptr;
  }
  if (pad->opcode() != Opcode::kPad || !Uses(Rule::kSlicedPads) ||
      pad->index() >= static_cast<int>(is_cut_.size()) || !is_cut_[pad->index()])
    return nullptr;
  const SliceView cut(*slice);
  const PadView around(*pad);
  Instruction* x = pad->operand(0);
  std::vector<EdgePadding> left(x->shape().rank());
  bool is_inside = true;
  for (int d = 0; d < x->shape().rank(); ++d) {
    if (cut[d].stride != 1 || around[d].interior != 0) return nullptr;
    left[d].low = around[d].low - cut[d].start;
    left[d].high = slice->shape().dim(d) - x->shape().dim(d) - left[d].low;
    // Of several pieces all but those without edges are cut from what is padded once.
    is_inside &= left[d].low <= 0 && left[d].high <= 0;
    // All of it is padding.
    if (left[d].low >= slice->shape().dim(d) || left[d].high >= slice->shape().dim(d)) return nullptr;
  }
  if (!is_inside && readers_[pad->index()] > 1) return nullptr;
  xla::HloInstructionProto* attrs;
  if (is_inside) {
    Instruction* piece = computation_->Add(Opcode::kSlice, slice->shape(), {x}, &attrs);
    for (int d = 0; d < x->shape().rank(); ++d) {
      attrs->add_slice_dimensions();
      SliceView::Set(attrs, d, {-left[d].low, x->shape().dim(d) + left[d].high, 1});
    }
    piece->set_metadata(slice->metadata());
    return piece->shape().Compatible(x->shape()) ? x : piece;
  }
  Instruction* less = computation_->Add(Opcode::kPad, slice->shape(), {x, pad->operand(1)}, &attrs);
  for (int d = 0; d < x->shape().rank(); ++d) {
    attrs->mutable_padding_config()->add_dimensions();
    PadView::Set(attrs, d, left[d]);
  }
  less->set_metadata(slice->metadata());
  return less;
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

bool Simplifier::CanMakeOfSlices(const Instruction& made, int steps) const {
  if (steps == 0 || !IsElementwise(made) || made.opcode() == Opcode::kCopy ||
      !made.control_predecessors().empty())
    return false;
  if (made.index() >= static_cast<int>(readers_.size())) return false;
  return absl::c_all_of(made.operands(), [&](const Instruction* operand) {
    if (operand->shape().rank() == 0 || operand->opcode() == Opcode::kBroadcast ||
        operand->opcode() == Opcode::kParameter)
      return true;
    if (operand->shape().dims() != made.shape().dims() ||
        operand->index() >= static_cast<int>(readers_.size()))
      return false;
    return IsElementwise(*operand) &&
           (readers_[operand->index()] > 1 || CanMakeOfSlices(*operand, steps - 1));
  });
}

Instruction* Simplifier::SlicedAs(const Instruction& slice, Instruction* x) {
  if (x->shape().rank() == 0) return x;
  Shape shape = slice.shape();
  shape.set_element_type(x->shape().element_type());
  if (x->opcode() != Opcode::kBroadcast) {
    Instruction* piece = computation_->AddClone(slice, shape, {x});
    Instruction* simple = SimplifiedSlice(piece);
    return simple != nullptr ? simple : piece;
  }
  Instruction* from = x->operand(0);
  bool cuts = false;
  for (int64_t k = 0; k < from->shape().rank(); ++k)
    cuts |= from->shape().dim(k) != slice.shape().dim(x->dimensions()[k]);
  if (cuts) {
    Shape piece = from->shape();
    for (int64_t k = 0; k < piece.rank(); ++k) piece.set_dim(k, slice.shape().dim(x->dimensions()[k]));
    xla::HloInstructionProto* attrs;
    Instruction* cut = computation_->Add(Opcode::kSlice, piece, {from}, &attrs);
    const SliceView bounds(slice);
    for (int k = 0; k < piece.rank(); ++k) {
      attrs->add_slice_dimensions();
      SliceView::Set(attrs, k, bounds[static_cast<int>(x->dimensions()[k])]);
    }
    cut->set_metadata(slice.metadata());
    from = cut;
  }
  return computation_->AddClone(*x, shape, {from});
}

// A piece of what is made elementwise for nothing else: made of pieces.
Instruction* Simplifier::MadeOfSlices(Instruction* slice) {
  constexpr int kMostSteps = 32;
  Instruction* made = slice->operand(0);
  if (made->index() >= static_cast<int>(readers_.size()) || readers_[made->index()] != 1 ||
      !CanMakeOfSlices(*made, kMostSteps))
    return nullptr;
  std::vector<Instruction*> pieces;
  for (Instruction* operand : made->operands()) pieces.push_back(SlicedAs(*slice, operand));
  return computation_->AddClone(*made, slice->shape(), pieces);
}

}  // namespace toroid
