// ConstantStartsPass: rewrites windows at constant positions as slices, pads and dynamic updates, whose rows halo exchanges
// fetch.
//
//   dynamic-slice of several rows from a constant start  => slice; then a dynamic-slice in other dimensions
//   gather of one window from constant starts            => reshape(slice)
//   scatter of one window to constant starts that
//     replaces the rows of x                        => dynamic-update-slice(x, reshape(u))
//     combines less than half of x with a reducer   => dynamic-update-slice(x, reducer(slice(x), reshape(u)))
//     combines at least half of x with a reducer    => reducer(x, pad(reshape(u))), with neutral padding
//
// Starts are clamped as the dynamic-slice and the gather do. A scatter whose window exceeds x is left alone
// (it has no effect).
// Example: x[16:, 16:] += u with x f32[256,256] over [4,4] shifts u by 16 rows and columns, 6 kB per device;
// as a scatter, all devices would gather u, 461 kB.
//
// SingleRowsPass: rewrites slices of single rows as dynamic slices. In a cut dimension, a dynamic slice is masked and
// all-reduced, wherever the row is.
//
//   reshape(slice(x)) of one row                         => reshape(dynamic-slice(x)) at a constant start
//   reshape(slice(x)) that cuts other dimensions as well => reshape(slice(dynamic-slice(x)))
//
// The local program of a slice moves rows to the tiles of its result, which suits users that read tiles. A
// dimension of size 1 that a reshape drops (x[:, 0], u[8, 3]) has no tiles: all devices need the row.
// Example: x [4,64,32], its sequence dimension 1 cut over 4 devices. If all devices need x[:, 0], the row is
// all-reduced. As a tile of a slice it would first travel to the first device.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/analysis/constant_integer.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"
#include "partitioner/prepare/prepare_passes.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

bool IsStatic(const Instruction& op) {
  const auto is_static = [](const Instruction* x) { return x->shape().IsArray() && !x->shape().IsDynamic(); };
  return is_static(&op) && op.shape().NumElements() > 0 && op.control_predecessors().empty() &&
         absl::c_all_of(op.operands(), is_static);
}

Instruction* RewriteDynamicSlice(const Instruction& op, InstructionBuilder& b) {
  Instruction* x = op.operand(0);
  Dims begin(op.shape().rank(), 0), limit(x->shape().dims().begin(), x->shape().dims().end());
  std::vector<Instruction*> starts;
  bool any = false, all = true;
  for (int d = 0; d < op.shape().rank(); ++d) {
    const bool spans = op.shape().dim(d) == limit[d];
    const std::optional<int64_t> start = spans || op.shape().dim(d) < 2 ? std::nullopt : ConstantStart(op, d);
    if (start) {
      begin[d] = *start;
      limit[d] = *start + op.shape().dim(d);
    }
    starts.push_back(start || spans ? b.Zero(op.operand(1)->shape().element_type()) : op.operand(1 + d));
    any |= start.has_value();
    all &= start.has_value() || spans;
  }
  if (!any) return nullptr;
  x = b.Slice(x, begin, limit);
  return all ? x : b.DynamicSlice(x, starts, op.shape().dims());
}

// A window of an array: its first index and its size in each dimension.
struct Window {
  Dims starts, sizes;
  bool has_rows = false;  // Whether it has several, but not all, elements of some dimension.

  Dims Limits() const {
    Dims limits = starts;
    for (size_t d = 0; d < limits.size(); ++d) limits[d] += sizes[d];
    return limits;
  }
};

// The window of `sizes` in an array of shape `x` whose start is the constant index vector `indices`;
// component k is the start in dimension map[k]. nullopt if the indices are not one constant vector.
std::optional<Window> WindowAt(const Instruction& indices, absl::Span<const int64_t> map, Dims sizes,
                               const Shape& x) {
  const std::optional<std::vector<int64_t>> index = IntegersOf(indices);
  if (!index || index->size() != map.size()) return std::nullopt;
  Window window{Dims(x.rank(), 0), std::move(sizes)};
  for (size_t k = 0; k < map.size(); ++k) window.starts[map[k]] = (*index)[k];
  for (int d = 0; d < x.rank(); ++d) window.has_rows |= window.sizes[d] > 1 && window.sizes[d] < x.dim(d);
  return window;
}

Instruction* RewriteGather(const Instruction& op, InstructionBuilder& b) {
  Instruction* x = op.operand(0);
  const GatherView numbers(op);
  std::optional<Window> window =
      WindowAt(*op.operand(1), numbers.start_index_map(), ToDims(numbers.slice_sizes()), x->shape());
  if (!window || !window->has_rows || !numbers.operand_batching_dims().empty()) return nullptr;
  for (int d = 0; d < x->shape().rank(); ++d) {
    window->starts[d] = std::clamp<int64_t>(window->starts[d], 0, x->shape().dim(d) - window->sizes[d]);
  }
  return b.Reshape(b.Slice(x, window->starts, window->Limits()), op.shape().dims());
}

// An update of at least this share of the array's elements is padded and combined with all of the array, so
// that only the update moves. For a smaller update, rows of the array move to the update and back.
constexpr double kLargeShare = 0.5;

// The operand with which the reducer changes nothing, not even the sign of a zero.
Instruction* Neutral(Reducer reducer, PrimitiveType type, InstructionBuilder& b) {
  return reducer == Reducer::kAdd ? b.Full(type, {}, -0.0) : b.Constant(NeutralElement(reducer, type));
}

Instruction* RewriteScatter(const Instruction& op, InstructionBuilder& b) {
  if (op.num_operands() != 3) return nullptr;
  Instruction* x = op.operand(0);
  const ScatterView numbers(op);
  if (!numbers.operand_batching_dims().empty()) return nullptr;
  const Shape& update = op.operand(2)->shape();
  // Sizes of the window: 1 in inserted dimensions; the others are the update's window dimensions, in order.
  Dims sizes;
  size_t next = 0;
  for (int d = 0; d < x->shape().rank(); ++d) {
    const bool inserted = absl::c_linear_search(numbers.inserted_window_dims(), d);
    sizes.push_back(inserted ? 1 : update.dim(static_cast<int>(numbers.update_window_dims()[next++])));
  }
  const std::optional<Window> window =
      WindowAt(*op.operand(1), numbers.scatter_dims_to_operand_dims(), sizes, x->shape());
  if (!window || !window->has_rows) return nullptr;
  std::vector<Instruction*> starts;
  for (int d = 0; d < x->shape().rank(); ++d) {
    if (window->starts[d] < 0 || window->starts[d] > x->shape().dim(d) - window->sizes[d]) return nullptr;
    starts.push_back(b.IntScalar(window->starts[d], xla::S64));
  }
  const Dims limits = window->Limits();
  Instruction* rows = b.Reshape(op.operand(2), window->sizes);
  const Computation& combiner = *op.called(0);
  if (combiner.root() == combiner.parameter(1)) return b.DynamicUpdateSlice(x, rows, starts);
  const std::optional<Reducer> reducer = ClassifyReducer(combiner);
  if (!reducer) return nullptr;
  const Opcode opcode = ReducerOpcode(*reducer);
  if (rows->shape().NumElements() < kLargeShare * static_cast<double>(x->shape().NumElements())) {
    return b.DynamicUpdateSlice(x, b.Binary(opcode, b.Slice(x, window->starts, limits), rows), starts);
  }
  Dims behind(x->shape().dims().begin(), x->shape().dims().end());
  for (size_t d = 0; d < behind.size(); ++d) behind[d] -= limits[d];
  return b.Binary(opcode, x,
                  b.Pad(rows, Neutral(*reducer, rows->shape().element_type(), b), window->starts, behind));
}

class StartsRewriter {
 public:
  explicit StartsRewriter(const Computation&) {}

  Instruction* Rewrite(const Instruction& op, InstructionBuilder& b) const {
    Instruction* made = Window(op, b);
    if (made == nullptr) return nullptr;
    made->set_name(op.name());
    made->TakeSharding(op);
    made->set_frontend_attributes(op.frontend_attributes());
    return made;
  }

 private:
  static Instruction* Window(const Instruction& op, InstructionBuilder& b) {
    switch (op.opcode()) {
      case Opcode::kDynamicSlice:
        return IsStatic(op) ? RewriteDynamicSlice(op, b) : nullptr;
      case Opcode::kGather:
        return IsStatic(op) ? RewriteGather(op, b) : nullptr;
      case Opcode::kScatter:
        return IsStatic(op) ? RewriteScatter(op, b) : nullptr;
      default:
        return nullptr;
    }
  }
};

bool IsOneRow(const Instruction& slice, int d) {
  return slice.shape().dim(d) == 1 && slice.operand(0)->shape().dim(d) > 1;
}

bool TakesOneRow(const Instruction& op) {
  if (op.opcode() != Opcode::kSlice || op.shape().IsDynamic() || op.operand(0)->shape().IsDynamic() ||
      op.shape().NumElements() == 0 || op.sharding() != nullptr ||
      op.FrontendAttribute("xla.sdy.sharding") != nullptr || !op.control_predecessors().empty()) {
    return false;
  }
  for (int d = 0; d < op.shape().rank(); ++d) {
    if (IsOneRow(op, d)) return true;
  }
  return false;
}

Instruction* TakeRows(InstructionBuilder& b, const Instruction& slice) {
  Instruction* x = slice.operand(0);
  const int rank = slice.shape().rank();
  std::vector<Instruction*> starts;
  Dims sizes, begin, limit, stride;
  for (int d = 0; d < rank; ++d) {
    const SliceBounds bounds = SliceView(slice)[d];
    const bool one = IsOneRow(slice, d);
    starts.push_back(b.IntScalar(one ? bounds.start : 0, xla::S64));
    sizes.push_back(one ? 1 : x->shape().dim(d));
    begin.push_back(one ? 0 : bounds.start);
    limit.push_back(one ? 1 : bounds.limit);
    stride.push_back(one ? 1 : bounds.stride);
  }
  Instruction* rows = b.DynamicSlice(x, starts, sizes);
  rows->set_name(slice.name());
  return b.Slice(rows, begin, limit, stride);
}

// By index of an instruction: whether it has users, all of them reshapes, and is not the root.
std::vector<bool> ReadByReshapes(const Computation& computation) {
  std::vector<bool> reshaped(computation.size(), false), other(computation.size(), false);
  for (const auto& op : computation.instructions()) {
    for (const Instruction* operand : op->operands()) {
      (op->opcode() == Opcode::kReshape ? reshaped : other)[operand->index()] = true;
    }
  }
  other[computation.root()->index()] = true;
  for (size_t i = 0; i < other.size(); ++i) reshaped[i] = reshaped[i] && !other[i];
  return reshaped;
}

class RowsRewriter {
 public:
  explicit RowsRewriter(const Computation& computation) : reshaped_(ReadByReshapes(computation)) {}

  Instruction* Rewrite(const Instruction& op, InstructionBuilder& b) const {
    return reshaped_[op.index()] && TakesOneRow(op) ? TakeRows(b, op) : nullptr;
  }

 private:
  const std::vector<bool> reshaped_;
};

// Replaces each instruction of a module by the one that the rewriter of its computation makes of it; null: it stays. Returns
// whether any was replaced.
template <typename Rewriter>
absl::StatusOr<bool> RewriteEach(Module* module) {
  bool changed = false;
  for (const auto& computation : module->computations()) {
    if (computation->is_fusion() || computation->root() == nullptr) continue;
    const Rewriter rewriter(*computation);
    std::vector<Instruction*> now(computation->size(), nullptr);
    InstructionBuilder b(computation.get());
    for (size_t i = 0; i < now.size(); ++i) {
      const Instruction& op = *computation->instruction(static_cast<int>(i));
      b.set_metadata(op.metadata());
      now[i] = rewriter.Rewrite(op, b);
    }
    RETURN_IF_ERROR(b.status());
    if (absl::c_all_of(now, [](const Instruction* made) { return made == nullptr; })) continue;
    RETURN_IF_ERROR(ReplaceAndDrop(computation.get(), now));
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> ConstantStartsPass::Run(std::unique_ptr<Module>* module) {
  return RewriteEach<StartsRewriter>(module->get());
}

absl::StatusOr<bool> SingleRowsPass::Run(std::unique_ptr<Module>* module) {
  return RewriteEach<RowsRewriter>(module->get());
}

}  // namespace toroid
