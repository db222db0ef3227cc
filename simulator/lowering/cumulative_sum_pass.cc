#include "simulator/lowering/cumulative_sum_pass.h"

#include <optional>

#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"

namespace toroid {
namespace {

// The dimension along which a reduce-window folds all before, or all behind.
struct RunningFold {
  int64_t dimension = 0;
  bool forward = true;
};

std::optional<RunningFold> RunOf(const Instruction& op) {
  if (op.opcode() != Opcode::kReduceWindow || op.num_operands() != 2 || !op.shape().IsArray() || op.called().empty()) {
    return std::nullopt;
  }
  const WindowView window(op);
  if (window.rank() != op.shape().rank()) return std::nullopt;
  std::optional<RunningFold> run;
  for (int i = 0; i < window.rank(); ++i) {
    const WindowDim d = window[i];
    if (d.IsTrivial()) continue;
    const int64_t n = op.operand(0)->shape().dim(i);
    const bool whole = d.stride == 1 && d.base_dilation == 1 && d.window_dilation == 1 && d.size == n;
    const bool forward = d.padding_low == n - 1 && d.padding_high == 0;
    const bool backward = d.padding_high == n - 1 && d.padding_low == 0;
    if (run || !whole || n < 2 || (!forward && !backward)) return std::nullopt;
    run = RunningFold{i, forward};
  }
  return run;
}

class Tree {
 public:
  Tree(Instruction* op, const RunningFold& run, int64_t lanes)
      : op_(op), to_(op->computation()), run_(run), lanes_(lanes), opcode_(Combiner(*op)) {}

  bool IsSupported() const { return opcode_ != Opcode::kUnknown; }
  Instruction* Build() { return Inclusive(op_->operand(0)); }

 private:
  // (a, b) -> opcode(a, b), and no more.
  static Opcode Combiner(const Instruction& op) {
    const Instruction* root = op.called(0)->root();
    if (op.called(0)->size() != 3 || root->num_operands() != 2 || root->operand(0) == root->operand(1)) {
      return Opcode::kUnknown;
    }
    const bool of_parameters =
        root->operand(0)->opcode() == Opcode::kParameter && root->operand(1)->opcode() == Opcode::kParameter;
    return of_parameters && IsElementwise(root->opcode()) ? root->opcode() : Opcode::kUnknown;
  }

  Instruction* Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                   xla::HloInstructionProto** attrs) {
    Instruction* added = to_->Add(opcode, shape, operands, attrs);
    added->set_metadata(op_->metadata());
    return added;
  }
  Shape Sized(absl::Span<const int64_t> dims) const { return Shape(op_->shape().element_type(), dims); }

  Instruction* Reshape(Instruction* x, const Dims& dims) {
    if (x->shape().dims() == absl::MakeConstSpan(dims)) return x;
    xla::HloInstructionProto* attrs;
    return Add(Opcode::kReshape, Sized(dims), {x}, &attrs);
  }

  // Folds along dimension d of x, up to each element; `exclusive`: without it.
  Instruction* Window(Instruction* x, int64_t d, bool exclusive) {
    xla::HloInstructionProto* attrs;
    Instruction* window = Add(Opcode::kReduceWindow, x->shape(), {x, op_->operand(1)}, &attrs);
    window->mutable_shape().set_dims(x->shape().dims());
    const int64_t n = x->shape().dim(d);
    for (int64_t i = 0; i < x->shape().rank(); ++i) {
      WindowDim dim;
      if (i == d) {
        dim.size = n;
        dim.padding_low = run_.forward ? n - 1 : 0;
        dim.padding_high = run_.forward ? 0 : n - 1;
        if (exclusive) {
          dim.padding_low += run_.forward ? 1 : -1;
          dim.padding_high += run_.forward ? -1 : 1;
        }
      }
      attrs->mutable_window()->add_dimensions();
      WindowView::Set(attrs, static_cast<int>(i), dim);
    }
    window->set_called({op_->called(0)});
    return window;
  }

  Instruction* Inclusive(Instruction* x) {
    const int64_t d = run_.dimension, n = x->shape().dim(d);
    if (n <= lanes_) return Window(x, d, /*exclusive=*/false);
    const int64_t blocks = CeilOfRatio(n, lanes_);
    const Instruction* whole = x;
    if (n % lanes_ != 0) x = Padded(x, blocks * lanes_);
    const Dims padded(x->shape().dims().begin(), x->shape().dims().end());
    Dims cut = padded;
    cut[d] = blocks;
    cut.insert(cut.begin() + d + 1, lanes_);
    Instruction* within = Window(Reshape(x, cut), d + 1, /*exclusive=*/false);
    Dims total = cut;
    total[d + 1] = 1;
    xla::HloInstructionProto* attrs;
    Instruction* last = Add(Opcode::kSlice, Sized(total), {within}, &attrs);
    for (int64_t i = 0; i < static_cast<int64_t>(cut.size()); ++i) {
      attrs->add_slice_dimensions();
      const int64_t start = i == d + 1 && run_.forward ? lanes_ - 1 : 0;
      SliceView::Set(attrs, static_cast<int>(i), {start, i == d + 1 ? start + 1 : cut[i], 1});
    }
    Dims rows = padded;
    rows[d] = blocks;
    Instruction* before = Exclusive(Reshape(last, rows));
    Instruction* spread = Add(Opcode::kBroadcast, Sized(cut), {before}, &attrs);
    for (int64_t i = 0; i < static_cast<int64_t>(rows.size()); ++i) attrs->add_dimensions(i <= d ? i : i + 1);
    Instruction* both = run_.forward ? Add(opcode_, Sized(cut), {spread, within}, &attrs)
                                     : Add(opcode_, Sized(cut), {within, spread}, &attrs);
    Instruction* result = Reshape(both, padded);
    if (n % lanes_ == 0) return result;
    Instruction* part = Add(Opcode::kSlice, whole->shape(), {result}, &attrs);
    const int64_t first = run_.forward ? 0 : blocks * lanes_ - n;
    for (int64_t i = 0; i < whole->shape().rank(); ++i) {
      attrs->add_slice_dimensions();
      const int64_t start = i == d ? first : 0;
      SliceView::Set(attrs, static_cast<int>(i), {start, start + whole->shape().dim(i), 1});
    }
    return part;
  }

  // Folds of all before each element.
  Instruction* Exclusive(Instruction* x) {
    const int64_t d = run_.dimension, n = x->shape().dim(d);
    if (n <= lanes_) return Window(x, d, /*exclusive=*/true);
    // One place on.
    xla::HloInstructionProto* attrs;
    Instruction* folds = Inclusive(x);
    Instruction* shifted = Add(Opcode::kPad, x->shape(), {folds, op_->operand(1)}, &attrs);
    for (int64_t i = 0; i < x->shape().rank(); ++i) {
      attrs->mutable_padding_config()->add_dimensions();
      EdgePadding padding;
      if (i == d) padding = run_.forward ? EdgePadding{1, -1, 0} : EdgePadding{-1, 1, 0};
      PadView::Set(attrs, static_cast<int>(i), padding);
    }
    return shifted;
  }

  Instruction* Padded(Instruction* x, int64_t size) {
    const int64_t d = run_.dimension, more = size - x->shape().dim(d);
    Dims dims(x->shape().dims().begin(), x->shape().dims().end());
    dims[d] = size;
    xla::HloInstructionProto* attrs;
    Instruction* pad = Add(Opcode::kPad, Sized(dims), {x, op_->operand(1)}, &attrs);
    for (int64_t i = 0; i < x->shape().rank(); ++i) {
      attrs->mutable_padding_config()->add_dimensions();
      EdgePadding padding;
      if (i == d) (run_.forward ? padding.high : padding.low) = more;
      PadView::Set(attrs, static_cast<int>(i), padding);
    }
    return pad;
  }

  Instruction* op_;
  Computation* to_;
  const RunningFold run_;
  const int64_t lanes_;
  const Opcode opcode_;
};

}  // namespace

absl::StatusOr<bool> CumulativeSumPass::Run(std::unique_ptr<Module>* module) {
  return ReplaceEach(module->get(), [&](Instruction* op) -> Instruction* {
    const auto run = RunOf(*op);
    if (!run || op->operand(0)->shape().dim(run->dimension) <= lanes_) return nullptr;
    Tree tree(op, *run, lanes_);
    return tree.IsSupported() ? tree.Build() : nullptr;
  });
}

}  // namespace toroid
