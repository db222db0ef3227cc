#include "simulator/compiler/rewrites/cumulative_sum_pass.h"

#include <algorithm>
#include <optional>

#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// The dimension along which a reduce-window sums all elements up to each element, or all from it on; if exclusive, without
// itself.
struct RunningFold {
  int64_t dimension = 0;
  bool forward = true;
  bool exclusive = false;
};

// `cut`: of the results, which may be one more than there are elements, so many are read.
std::optional<RunningFold> RunOf(const Instruction& op, std::optional<int64_t> cut = std::nullopt) {
  if (op.opcode() != Opcode::kReduceWindow || op.num_operands() != 2 || !op.shape().IsArray() ||
      op.called().empty()) {
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
    const int64_t results = n + d.padding_low + d.padding_high - d.size + 1;
    // With a result for each element, or as many read.
    const bool forward = d.padding_low >= n - 1, backward = d.padding_high >= n - 1;
    const bool exclusive = (forward ? d.padding_low : d.padding_high) == n;
    const bool counts =
        std::max(d.padding_low, d.padding_high) <= n && std::min(d.padding_low, d.padding_high) >= -1 &&
        std::min(d.padding_low, d.padding_high) <= 0 && (results == n || (cut == n && results == n + 1));
    if (run || !whole || n < 2 || forward == backward || !counts) return std::nullopt;
    run = RunningFold{i, forward, exclusive};
  }
  return run;
}

class Tree {
 public:
  Tree(Instruction* op, const RunningFold& run, int64_t lanes)
      : op_(op), to_(op->computation()), run_(run), lanes_(lanes), opcode_(Combiner(*op)) {}

  bool IsSupported() const { return opcode_ != Opcode::kUnknown; }
  Instruction* Build() { return Fold(op_->operand(0), run_.exclusive); }

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

  // Of all up to each element; `exclusive`: before it.
  Instruction* Fold(Instruction* x, bool exclusive) {
    const int64_t d = run_.dimension, n = x->shape().dim(d);
    if (n <= lanes_) return Window(x, d, exclusive);
    const int64_t blocks = CeilOfRatio(n, lanes_);
    const Instruction* whole = x;
    if (n % lanes_ != 0) x = Padded(x, blocks * lanes_);
    const Dims padded(x->shape().dims().begin(), x->shape().dims().end());
    Dims cut = padded;
    cut[d] = blocks;
    cut.insert(cut.begin() + d + 1, lanes_);
    Instruction* blocked = Reshape(x, cut);
    Instruction* within = Window(blocked, d + 1, exclusive);
    Instruction* total = Last(within, d + 1);
    xla::HloInstructionProto* attrs;
    if (exclusive) {
      Instruction* last = Last(blocked, d + 1);
      total = run_.forward ? Add(opcode_, total->shape(), {total, last}, &attrs)
                           : Add(opcode_, total->shape(), {last, total}, &attrs);
    }
    Dims rows = padded;
    rows[d] = blocks;
    Instruction* before = Fold(Reshape(total, rows), /*exclusive=*/true);
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

  // Of each block the element that stands last, as the fold goes.
  Instruction* Last(Instruction* x, int64_t d) {
    Dims dims(x->shape().dims().begin(), x->shape().dims().end());
    const int64_t start = run_.forward ? dims[d] - 1 : 0;
    dims[d] = 1;
    xla::HloInstructionProto* attrs;
    Instruction* last = Add(Opcode::kSlice, Sized(dims), {x}, &attrs);
    for (int64_t i = 0; i < x->shape().rank(); ++i) {
      attrs->add_slice_dimensions();
      SliceView::Set(attrs, static_cast<int>(i), {i == d ? start : 0, i == d ? start + 1 : dims[i], 1});
    }
    return last;
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

// The one dimension that a slice shortens; the first if it shortens none or several.
int64_t ChangedDim(const Instruction& slice) {
  int64_t changed = 0, count = 0;
  for (int64_t d = 0; d < slice.shape().rank(); ++d) {
    if (slice.shape().dim(d) == slice.operand(0)->shape().dim(d)) continue;
    changed = d;
    ++count;
  }
  return count == 1 ? changed : 0;
}

// A slice of all but the last along `d`, or, backward, but the first.
bool LeavesOneOut(const Instruction& slice, int64_t d, bool forward) {
  const SliceView view(slice);
  for (int64_t i = 0; i < slice.shape().rank(); ++i) {
    const int64_t size = slice.operand(0)->shape().dim(i);
    const bool is_cut = i == d;
    const auto dim = view[static_cast<int>(i)];
    if (dim.stride != 1 || dim.start != (is_cut && !forward ? 1 : 0) ||
        dim.limit != (is_cut && forward ? size - 1 : size))
      return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> CumulativeSumPass::Run(std::unique_ptr<Module>* module) {
  if (!IsOn(Rule::kFoldsAsTrees)) return false;
  return ReplaceEach(module->get(), [&](Instruction* op) -> Instruction* {
    Instruction* window = op;
    std::optional<int64_t> cut;
    if (op->opcode() == Opcode::kSlice && op->operand(0)->opcode() == Opcode::kReduceWindow) {
      // Sums of all before each element, as TensorFlow writes them: of one more result than there are elements the last, or
      // first, is left out.
      window = op->operand(0);
      const auto run = RunOf(*window, op->shape().dim(ChangedDim(*op)));
      if (!run || !run->exclusive || !LeavesOneOut(*op, run->dimension, run->forward)) return nullptr;
      cut = op->shape().dim(run->dimension);
    }
    const auto run = RunOf(*window, cut);
    if (!run || window->operand(0)->shape().dim(run->dimension) <= lanes_) return nullptr;
    Tree tree(window, *run, lanes_);
    return tree.IsSupported() ? Marked(Rule::kFoldsAsTrees, tree.Build()) : nullptr;
  });
}

}  // namespace toroid
