#include "simulator/compiler/rewrites/simplify_pass.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/builder/neutral_element.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/native_types.h"
#include "hlo/ir/unit_dims.h"
#include "hlo/passes/dce_pass.h"
#include "simulator/compiler/rewrites/padded_convolutions.h"
#include "simulator/compiler/rewrites/reshape_cancellation.h"
#include "simulator/compiler/rewrites/transposed_operands.h"
#include "simulator/program/columns.h"
#include "simulator/program/elementwise.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

bool IsIdentityList(absl::Span<const int64_t> dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Equal values become one only before barriers are gone: what stands behind one is computed a second time on purpose.
enum class Round { kMerges, kRemovesBarriers };

// One computation, from its first instruction to its last.
class Simplifier {
 public:
  // `texts`: what computations compute, for those that may be told to be equal.
  Simplifier(Computation* computation, const std::vector<std::string>& texts, Round round, bool is_second,
             const Tiling& tiling)
      : computation_(computation), texts_(texts), round_(round), is_second_(is_second), tiling_(tiling) {}

  absl::StatusOr<bool> Run() {
    const int n = computation_->size();
    now_.assign(n, nullptr);
    is_cut_.assign(n, true);
    is_cut_[computation_->root()->index()] = false;
    readers_.assign(n, 0);
    for (const auto& op : computation_->instructions()) {
      for (const Instruction* operand : op->operands()) {
        if (op->opcode() != Opcode::kSlice) is_cut_[operand->index()] = false;
        ++readers_[operand->index()];
      }
    }
    for (int i = 0; i < n; ++i) {
      Instruction* op = computation_->instruction(i);
      for (int k = 0; k < op->num_operands(); ++k) {
        if (Instruction* other = Now(op->operand(k))) op->set_operand(k, other);
      }
      Instruction* simple = Simplified(op);
      if (simple == nullptr && is_second_ && IsElementwise(*op) && Uses(Rule::kColumnsAreWorkedOn))
        simple = MadeOfColumns(op);
      if (simple != nullptr && simple != op && simple->opcode() != Opcode::kParameter)
        MarkDecided(rule_, simple);
      if (simple == nullptr && round_ == Round::kMerges && IsOn(Rule::kEqualValuesMerge))
        simple = SameAsBefore(op);
      if (simple == nullptr || simple == op) continue;
      now_[i] = simple;
      changed_ = true;
    }
    if (!changed_) return false;
    // Entries of `now_` may be replaced themselves, by what stands before them.
    ReplaceUses(computation_, now_);
    RETURN_IF_ERROR(SortInstructions(computation_));
    return true;
  }

 private:
  Instruction* Now(const Instruction* value) const {
    return value->index() < static_cast<int>(now_.size()) ? now_[value->index()] : nullptr;
  }

  // Whether the rule holds; it is the one that made what is made next.
  bool Uses(Rule rule) {
    rule_ = rule;
    return IsOn(rule);
  }
  Instruction* Simplified(Instruction* op);
  Instruction* SimplifiedReshape(Instruction* reshape);
  Instruction* SimplifiedTranspose(Instruction* transpose);
  Instruction* SimplifiedBroadcast(Instruction* broadcast);
  Instruction* SimplifiedReduce(Instruction* reduce);
  Instruction* ReduceOfReduce(Instruction* reduce);
  Instruction* SimplifiedSlice(Instruction* slice);
  Instruction* SliceOfSlice(Instruction* slice);
  Instruction* CutByPad(Instruction* pad);
  Instruction* MadeOfSlices(Instruction* slice);
  // Of a value that is made elementwise for this one reader from arguments, or from what others read too.
  bool CanMakeOfSlices(const Instruction& made, int steps) const;
  Instruction* SlicedAs(const Instruction& slice, Instruction* x);
  Instruction* MadeOfColumns(Instruction* op);
  Instruction* SimplifiedConvert(Instruction* convert);
  Instruction* SimplifiedWindows(Instruction* reduce_window);
  Instruction* SameAsBefore(Instruction* op);
  Instruction* WithoutNeutral(Instruction* op);

  Instruction* Reshape(const Instruction& like, Instruction* x) {
    if (x->shape().Compatible(like.shape())) return x;
    Instruction* reshape = computation_->Add(Opcode::kReshape, like.shape(), {x});
    reshape->set_metadata(like.metadata());
    return reshape;
  }

  Computation* computation_;
  const std::vector<std::string>& texts_;
  const Round round_;
  const bool is_second_;  // What is the same was merged before, so that readers are counted.
  const Tiling tiling_;
  std::vector<Instruction*> now_;
  std::vector<bool> is_cut_;                        // By index: only slices read it.
  std::vector<int> readers_;                        // By index.
  absl::flat_hash_map<size_t, Instruction*> seen_;  // By hash; of several the first.
  std::string scratch_;
  Rule rule_ = Rule::kMovesJoin;
  bool changed_ = false;
};

Instruction* Simplifier::Simplified(Instruction* op) {
  switch (op->opcode()) {
    case Opcode::kReshape:
      return SimplifiedReshape(op);
    case Opcode::kTranspose:
      return SimplifiedTranspose(op);
    case Opcode::kBroadcast:
      return SimplifiedBroadcast(op);
    case Opcode::kSlice:
      return SimplifiedSlice(op);
    case Opcode::kReduceWindow:
      return SimplifiedWindows(op);
    case Opcode::kDot:
      return Uses(Rule::kTransposedOperands) ? WithoutTransposedOperand(*op, computation_) : nullptr;
    case Opcode::kConvolution:
      return Uses(Rule::kPaddedConvolutions) ? WithoutPad(*op, computation_) : nullptr;
    case Opcode::kPad:
      return Uses(Rule::kPadsThatCut) ? CutByPad(op) : nullptr;
    case Opcode::kConvert:
      if (Instruction* simple = SimplifiedConvert(op)) return simple;
      [[fallthrough]];
    case Opcode::kCopy:
      return op->operand(0)->shape().Compatible(op->shape()) && Uses(Rule::kMovesJoin) ? op->operand(0)
                                                                                       : nullptr;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAdd:
    case Opcode::kMultiply:
      return Uses(Rule::kNeutralElements) ? WithoutNeutral(op) : nullptr;
    case Opcode::kReduce:
      return SimplifiedReduce(op);
    case Opcode::kGetTupleElement:
      return op->operand(0)->opcode() == Opcode::kTuple && op->tuple_index() < op->operand(0)->num_operands()
                 ? op->operand(0)->operand(op->tuple_index())
                 : nullptr;
    case Opcode::kOptimizationBarrier:
      return round_ == Round::kRemovesBarriers ? op->operand(0) : nullptr;
    case Opcode::kCustomCall: {
      const bool annotates =
          op->custom_call_target() == "Sharding" || op->custom_call_target() == "annotate_device_placement";
      return annotates && op->num_operands() == 1 && op->operand(0)->shape().Compatible(op->shape())
                 ? op->operand(0)
                 : nullptr;
    }
    default:
      return nullptr;
  }
}

// A float that is everywhere the same; nullopt if it is not, or not told by the program.
std::optional<double> SplatOf(const Instruction* value) {
  if (value->opcode() == Opcode::kBroadcast) value = value->operand(0);
  const PrimitiveType type = value->shape().element_type();
  if (value->opcode() != Opcode::kConstant || value->shape().rank() != 0 ||
      (type != xla::F32 && type != xla::BF16)) {
    return std::nullopt;
  }
  const absl::StatusOr<Literal> literal = LiteralOf(*value);
  if (!literal.ok()) return std::nullopt;
  return type == xla::F32 ? static_cast<double>(literal->data<float>()[0])
                          : static_cast<double>(literal->data<bfloat16>()[0]);
}

Instruction* Simplifier::WithoutNeutral(Instruction* op) {
  const Opcode opcode = op->opcode();
  const double infinity = std::numeric_limits<double>::infinity();
  const double neutral = opcode == Opcode::kMaximum   ? -infinity
                         : opcode == Opcode::kMinimum ? infinity
                         : opcode == Opcode::kAdd     ? 0
                                                      : 1;
  for (int k = 0; k < 2; ++k) {
    if (!op->operand(1 - k)->shape().Compatible(op->shape())) continue;
    if (SplatOf(op->operand(k)) == neutral) return op->operand(1 - k);
  }
  return nullptr;
}

Instruction* Simplifier::SimplifiedReshape(Instruction* reshape) {
  Instruction* x = reshape->operand(0);
  if (x->shape().Compatible(reshape->shape())) return x;
  if (x->opcode() == Opcode::kReshape && Uses(Rule::kMovesJoin)) return Reshape(*reshape, x->operand(0));
  const auto is_read_once = [&](const Instruction& value) {
    return value.index() < static_cast<int>(readers_.size()) && readers_[value.index()] == 1;
  };
  if (Uses(Rule::kReshapesCancel)) {
    if (Instruction* made = MadeBeforeReshape(*reshape, is_read_once, computation_)) return made;
  }
  if (x->opcode() != Opcode::kBroadcast || !SameButUnitDims(x->shape(), reshape->shape()) ||
      !Uses(Rule::kReshapedSpread))
    return nullptr;
  // Dimensions of the broadcast's operand keep their places among the sized ones.
  const Dims before = SizedDims(x->shape()), after = SizedDims(reshape->shape());
  Dims place(x->shape().rank(), -1);
  for (size_t i = 0; i < before.size(); ++i) place[before[i]] = after[i];
  xla::HloInstructionProto* attrs;
  for (const int64_t d : x->dimensions()) {
    if (place[d] < 0) return nullptr;
  }
  Instruction* broadcast = computation_->Add(Opcode::kBroadcast, reshape->shape(), {x->operand(0)}, &attrs);
  for (const int64_t d : x->dimensions()) attrs->add_dimensions(place[d]);
  broadcast->set_metadata(x->metadata());
  return broadcast;
}

Instruction* Simplifier::SimplifiedTranspose(Instruction* transpose) {
  Instruction* x = transpose->operand(0);
  const auto permutation = transpose->dimensions();
  if (IsIdentityList(permutation)) return x;
  if (x->opcode() == Opcode::kTranspose && Uses(Rule::kMovesJoin)) {
    xla::HloInstructionProto* attrs;
    Instruction* both = computation_->Add(Opcode::kTranspose, transpose->shape(), {x->operand(0)}, &attrs);
    for (const int64_t d : permutation) attrs->add_dimensions(x->dimensions()[d]);
    both->set_metadata(transpose->metadata());
    if (Instruction* simple = SimplifiedTranspose(both)) return simple;
    return both;
  }
  Dims sized;
  for (const int64_t d : permutation) {
    if (x->shape().dim(d) != 1) sized.push_back(d);
  }
  if (std::is_sorted(sized.begin(), sized.end()) && Uses(Rule::kTransposesOfUnits))
    return Reshape(*transpose, x);
  return nullptr;
}

Instruction* Simplifier::SimplifiedBroadcast(Instruction* broadcast) {
  Instruction* x = broadcast->operand(0);
  if (x->shape().Compatible(broadcast->shape()) && IsIdentityList(broadcast->dimensions())) return x;
  if (x->opcode() == Opcode::kBroadcast && Uses(Rule::kMovesJoin)) {
    xla::HloInstructionProto* attrs;
    Instruction* both = computation_->Add(Opcode::kBroadcast, broadcast->shape(), {x->operand(0)}, &attrs);
    for (const int64_t d : x->dimensions()) attrs->add_dimensions(broadcast->dimensions()[d]);
    both->set_metadata(broadcast->metadata());
    return both;
  }
  if (x->opcode() == Opcode::kReshape && SameButUnitDims(x->operand(0)->shape(), x->shape()) &&
      Uses(Rule::kSpreadReshapes)) {
    // Without the reshape, if all dimensions of what it reshapes have more than one element.
    Instruction* y = x->operand(0);
    const Dims before = SizedDims(y->shape()), after = SizedDims(x->shape());
    if (static_cast<int>(before.size()) != y->shape().rank()) return nullptr;
    xla::HloInstructionProto* attrs;
    Instruction* direct = computation_->Add(Opcode::kBroadcast, broadcast->shape(), {y}, &attrs);
    for (const int64_t d : after) attrs->add_dimensions(broadcast->dimensions()[d]);
    direct->set_metadata(broadcast->metadata());
    return direct;
  }
  return nullptr;
}

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

// Of vectors that were columns: made of these.
Instruction* Simplifier::MadeOfColumns(Instruction* op) {
  if (op->shape().rank() != 1 || !op->shape().IsArray() || !op->control_predecessors().empty())
    return nullptr;
  const Shape* column = nullptr;
  for (const Instruction* operand : op->operands()) {
    if (IsEverywhereTheSame(*operand)) continue;
    if (!IsColumnToVector(*operand, tiling_)) return nullptr;
    const Shape& shape = operand->operand(0)->shape();
    if (column != nullptr && column->dims() != shape.dims()) return nullptr;
    column = &shape;
  }
  if (column == nullptr) return nullptr;
  std::vector<Instruction*> operands;
  for (Instruction* operand : op->operands()) {
    Shape shape = *column;
    shape.set_element_type(operand->shape().element_type());
    operands.push_back(operand->shape().rank() == 0 ? operand
                       : operand->opcode() == Opcode::kBroadcast
                           ? computation_->AddClone(*operand, shape, {operand->operand(0)})
                           : operand->operand(0));
  }
  Shape shape = *column;
  shape.set_element_type(op->shape().element_type());
  return Reshape(*op, computation_->AddClone(*op, shape, operands));
}

// Windows over an array that was padded with what they begin with: their own padding.
Instruction* Simplifier::SimplifiedWindows(Instruction* reduce_window) {
  if (reduce_window->num_operands() != 2 || !reduce_window->shape().IsArray()) return nullptr;
  const Instruction* pad = reduce_window->operand(0);
  if (pad->opcode() != Opcode::kPad || !Uses(Rule::kPaddedWindows)) return nullptr;
  const auto is_same = [](const Instruction* a, const Instruction* b) {
    if (a == b) return true;
    const auto x = SplatOf(a), y = SplatOf(b);
    return x.has_value() && x == y && a->shape().element_type() == b->shape().element_type();
  };
  if (!is_same(pad->operand(1), reduce_window->operand(1))) return nullptr;
  const WindowView windows(*reduce_window);
  const PadView around(*pad);
  std::vector<WindowDim> wider(windows.rank());
  for (int d = 0; d < windows.rank(); ++d) {
    wider[d] = windows[d];
    if (around[d].low < 0 || around[d].high < 0 || wider[d].base_dilation != 1) return nullptr;
    wider[d].padding_low += around[d].low;
    wider[d].padding_high += around[d].high;
    wider[d].base_dilation = around[d].interior + 1;
  }
  Instruction* direct = computation_->AddClone(*reduce_window, reduce_window->shape(),
                                               {pad->operand(0), reduce_window->operand(1)});
  xla::HloInstructionProto* attrs = direct->MutableAttrs();
  for (int d = 0; d < windows.rank(); ++d) WindowView::Set(attrs, d, wider[d]);
  return direct;
}

// Over dimensions of one element, from the neutral element: nothing is added to anything.
// Over more dimensions at once.
Instruction* Simplifier::ReduceOfReduce(Instruction* reduce) {
  Instruction* inner = reduce->operand(0);
  if (IsColumnToVector(*inner, tiling_) && Uses(Rule::kSumsOfColumns)) {
    Instruction* one =
        computation_->AddClone(*reduce, reduce->shape(), {inner->operand(0), reduce->operand(1)});
    one->MutableAttrs()->add_dimensions(1);
    return one;
  }
  if (inner->opcode() != Opcode::kReduce || inner->num_operands() != 2 || !inner->shape().IsArray() ||
      !Uses(Rule::kSumsJoin))
    return nullptr;
  if (inner->index() >= static_cast<int>(readers_.size()) || readers_[inner->index()] != 1 ||
      inner->called().size() != 1)
    return nullptr;
  const std::string& text = texts_[reduce->called(0)->index()];
  if (text.empty() || text != texts_[inner->called(0)->index()]) return nullptr;
  const std::optional<Literal> neutral =
      NeutralElement(reduce->called(0)->root()->opcode(), reduce->shape().element_type());
  if (!neutral || inner->operand(1)->opcode() != Opcode::kConstant) return nullptr;
  const absl::StatusOr<Literal> from = LiteralOf(*inner->operand(1));
  if (!from.ok() || !(*from == *neutral)) return nullptr;
  Dims kept, dims;
  const auto before = inner->dimensions();
  for (int64_t d = 0; d < inner->operand(0)->shape().rank(); ++d) {
    (absl::c_linear_search(before, d) ? dims : kept).push_back(d);
  }
  for (const int64_t d : reduce->dimensions()) dims.push_back(kept[d]);
  absl::c_sort(dims);
  Instruction* one =
      computation_->AddClone(*reduce, reduce->shape(), {inner->operand(0), reduce->operand(1)});
  one->MutableAttrs()->clear_dimensions();
  for (const int64_t d : dims) one->MutableAttrs()->add_dimensions(d);
  return one;
}

Instruction* Simplifier::SimplifiedReduce(Instruction* reduce) {
  if (reduce->num_operands() != 2 || !reduce->shape().IsArray() || reduce->called().size() != 1)
    return nullptr;
  const Instruction* x = reduce->operand(0);
  const Instruction* init = reduce->operand(1);
  const Instruction* root = reduce->called(0)->root();
  if (reduce->called(0)->size() != 3 || root->num_operands() != 2 || root->operand(0) == root->operand(1) ||
      root->operand(0)->opcode() != Opcode::kParameter || root->operand(1)->opcode() != Opcode::kParameter) {
    return nullptr;
  }
  if (Uses(Rule::kSumsBeforeReshape)) {
    if (Instruction* sum = ReductionBeforeReshape(*reduce, computation_)) return sum;
  }
  if (is_second_) {
    if (Instruction* one = ReduceOfReduce(reduce)) return one;
  }
  for (const int64_t d : reduce->dimensions()) {
    if (x->shape().dim(d) != 1) return nullptr;
  }
  const std::optional<Literal> neutral = NeutralElement(root->opcode(), x->shape().element_type());
  if (!neutral || init->opcode() != Opcode::kConstant) return nullptr;
  const absl::StatusOr<Literal> from = LiteralOf(*init);
  if (!from.ok() || !(*from == *neutral)) return nullptr;
  return Uses(Rule::kSumsOfOneElement) ? Reshape(*reduce, reduce->operand(0)) : nullptr;
}

Instruction* Simplifier::SameAsBefore(Instruction* op) {
  const Opcode opcode = op->opcode();
  if (opcode == Opcode::kParameter || opcode == Opcode::kCustomCall || opcode == Opcode::kUnknown ||
      opcode == Opcode::kInfeed || HasTrait(opcode, kSideEffect) || HasTrait(opcode, kRunsBody) ||
      IsCollective(opcode) || opcode == Opcode::kRngGetAndUpdateState || opcode == Opcode::kTuple ||
      !op->control_predecessors().empty()) {
    return nullptr;
  }
  if (opcode == Opcode::kConstant && op->shape().NumElements() > 1024) return nullptr;
  std::string& attrs = scratch_;
  attrs.clear();
  op->attrs().AppendToString(&attrs);
  size_t key = absl::HashOf(static_cast<int>(opcode), attrs, op->shape().dims(),
                            static_cast<int>(op->shape().element_type()));
  for (const Instruction* operand : op->operands()) key = absl::HashOf(key, operand->index());
  for (const Computation* called : op->called()) {
    if (texts_[called->index()].empty()) return nullptr;
  }
  const auto [place, is_new] = seen_.try_emplace(key, op);
  if (is_new) return nullptr;
  Instruction* before = place->second;
  if (before->opcode() != opcode || before->shape() != op->shape() || before->operands() != op->operands() ||
      before->called().size() != op->called().size() || before->attrs().SerializeAsString() != attrs) {
    return nullptr;
  }
  for (size_t k = 0; k < op->called().size(); ++k) {
    if (texts_[before->called(k)->index()] != texts_[op->called(k)->index()]) return nullptr;
  }
  return before;
}

// What a small computation over scalars computes, whatever its names; empty for others.
std::string TextOf(const Computation& computation) {
  if (computation.size() > 32) return "";
  std::string text;
  for (const auto& op : computation.instructions()) {
    if (!op->called().empty() || HasTrait(op->opcode(), kSideEffect)) return "";
    absl::StrAppend(&text, static_cast<int>(op->opcode()), op->shape().ToString());
    for (const Instruction* operand : op->operands()) absl::StrAppend(&text, ",", operand->index());
    absl::StrAppend(&text, "|");
    op->attrs().AppendToString(&text);
  }
  absl::StrAppend(&text, ";", computation.root()->index());
  return text;
}

}  // namespace

absl::StatusOr<bool> SimplifyPass::Run(std::unique_ptr<Module>* module) {
  std::vector<std::string> texts;
  for (const auto& computation : (*module)->computations()) texts.push_back(TextOf(*computation));
  // What reducers, comparators and the like do stays as it is.
  std::vector<bool> runs(texts.size(), false);
  runs[(*module)->entry()->index()] = true;
  for (const auto& computation : (*module)->computations()) {
    for (const auto& op : computation->instructions()) {
      if (!HasTrait(op->opcode(), kRunsBody)) continue;
      for (const Computation* called : op->called()) runs[called->index()] = true;
    }
  }
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    if (!runs[computation->index()]) continue;
    const bool has_barrier =
        !keeps_barriers_ && absl::c_any_of(computation->instructions(), [](const auto& op) {
          return op->opcode() == Opcode::kOptimizationBarrier;
        });
    ASSIGN_OR_RETURN(const bool now,
                     Simplifier(computation.get(), texts, Round::kMerges, !keeps_barriers_, tiling_).Run());
    changed |= now;
    if (!has_barrier) continue;
    RETURN_IF_ERROR(Simplifier(computation.get(), texts, Round::kRemovesBarriers, !keeps_barriers_, tiling_)
                        .Run()
                        .status());
    changed = true;
  }
  changed |= EliminateDeadCode(module->get());
  return changed;
}

}  // namespace toroid
