#include "partitioner/prepare/constant_starts_pass.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/analysis/constant_integer.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

bool IsStatic(const Instruction& op) {
  const auto is_static = [](const Instruction* x) { return x->shape().IsArray() && !x->shape().IsDynamic(); };
  return is_static(&op) && op.shape().NumElements() > 0 && op.control_predecessors().empty() &&
         std::all_of(op.operands().begin(), op.operands().end(), is_static);
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
    const bool inserted =
        std::count(numbers.inserted_window_dims().begin(), numbers.inserted_window_dims().end(), d) > 0;
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

Instruction* RewriteOp(const Instruction& op, InstructionBuilder& b) {
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

absl::StatusOr<bool> RunIn(Computation* computation) {
  std::vector<Instruction*> now(computation->size(), nullptr);
  InstructionBuilder b(computation);
  bool changed = false;
  for (size_t i = 0; i < now.size(); ++i) {
    const Instruction* op = computation->instruction(static_cast<int>(i));
    b.set_metadata(op->metadata());
    now[i] = RewriteOp(*op, b);
    if (now[i] == nullptr) continue;
    now[i]->set_name(op->name());
    now[i]->TakeSharding(*op);
    now[i]->set_frontend_attributes(op->frontend_attributes());
    changed = true;
  }
  RETURN_IF_ERROR(b.status());
  if (changed) RETURN_IF_ERROR(ReplaceAndDrop(computation, now));
  return changed;
}

}  // namespace

absl::StatusOr<bool> ConstantStartsPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    if (computation->is_fusion() || computation->root() == nullptr) continue;
    ASSIGN_OR_RETURN(const bool here, RunIn(computation.get()));
    changed |= here;
  }
  return changed;
}

}  // namespace toroid
