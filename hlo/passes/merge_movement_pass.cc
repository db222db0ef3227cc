#include "hlo/passes/merge_movement_pass.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

bool CanMerge(const Instruction& op) {
  return op.shape().IsArray() && !op.shape().IsDynamic() && !op.shape().IsBuffer() &&
         op.shape().HasRowMajorLayout() && op.control_predecessors().empty();
}

bool IsPlain(const Instruction& op) { return CanMerge(op) && op.sharding() == nullptr; }

// The rewrites of one instruction. Every function returns the replacement, or null if the instruction stays.
class Rules {
 public:
  Rules(Computation* computation, const std::vector<int>& uses, const MergeMovementPass::Options& options)
      : b_(computation), uses_(uses), options_(options) {}

  const absl::Status& status() const { return b_.status(); }

  Instruction* Apply(const Instruction& op) {
    if (op.num_operands() == 0 || !CanMerge(op) || Stays(op)) return nullptr;
    b_.set_metadata(op.metadata());
    if (options_.shifts_alone) return OfShift(op);
    if (!IsPlain(op)) return nullptr;
    switch (op.opcode()) {
      case Opcode::kSlice:
        return OfSlice(op);
      case Opcode::kPad:
        return OfPad(op);
      case Opcode::kReshape:
        return OfReshape(op);
      case Opcode::kTranspose:
        return OfTranspose(op);
      case Opcode::kBroadcast:
        return OfBroadcast(op);
      case Opcode::kSelect:
        return OfSelect(op);
      case Opcode::kAnd:
      case Opcode::kOr:
        return op.operand(0) == op.operand(1) ? op.operand(0) : nullptr;
      default:
        return nullptr;
    }
  }

 private:
  // Bounds of a slice, as three lists.
  struct Bounds {
    Dims starts, limits, strides;
    explicit Bounds(const Instruction& slice) {
      for (int d = 0; d < slice.shape().rank(); ++d) {
        const SliceBounds bounds = SliceView(slice)[d];
        starts.push_back(bounds.start);
        limits.push_back(bounds.limit);
        strides.push_back(bounds.stride);
      }
    }
    bool IsDense() const {
      return std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 1; });
    }
  };

  bool Stays(const Instruction& op) const { return options_.stays && options_.stays(op); }

  // Merges a slice of a pad; the result keeps the slice's name and sharding.
  Instruction* OfShift(const Instruction& slice) {
    if (slice.opcode() != Opcode::kSlice || slice.operand(0)->opcode() != Opcode::kPad) return nullptr;
    const Instruction& pad = *slice.operand(0);
    if (!IsPlain(pad) || Stays(pad) || slice.shape().NumElements() == 0) return nullptr;
    Instruction* shift = SliceOfPad(slice, Bounds(slice), pad);
    if (shift == nullptr) return nullptr;
    if (shift == pad.operand(0)) {  // Slice and pad cancel out; a sharding needs a copy to carry it.
      if (slice.sharding() == nullptr && slice.frontend_attributes() == nullptr) return shift;
      shift = b_.Copy(shift);
    }
    shift->set_name(slice.name());
    shift->set_sharding(slice.sharding());
    shift->set_frontend_attributes(slice.frontend_attributes());
    return shift;
  }

  bool IsReadOnce(const Instruction& x) const {
    return x.index() < static_cast<int>(uses_.size()) && uses_[x.index()] == 1;
  }

  Instruction* OfSlice(const Instruction& slice) {
    Instruction* x = slice.operand(0);
    if (slice.shape().dims() == x->shape().dims()) return x;
    if (!IsPlain(*x) || slice.shape().NumElements() == 0) return nullptr;
    const Bounds cut(slice);
    switch (x->opcode()) {
      case Opcode::kSlice:
        return SliceOfSlice(slice, cut, *x);
      case Opcode::kPad:
        return SliceOfPad(slice, cut, *x);
      case Opcode::kConcatenate:
        return SliceOfConcatenate(cut, *x);
      case Opcode::kBroadcast:
        return SliceOfBroadcast(slice, *x);
      default:
        return nullptr;
    }
  }

  Instruction* SliceOfSlice(const Instruction& slice, const Bounds& cut, const Instruction& inner) {
    Bounds now(inner);
    for (int d = 0; d < slice.shape().rank(); ++d) {
      now.starts[d] += cut.starts[d] * now.strides[d];
      now.strides[d] *= cut.strides[d];
      now.limits[d] = now.starts[d] + (slice.shape().dim(d) - 1) * now.strides[d] + 1;
    }
    return b_.Slice(inner.operand(0), now.starts, now.limits, now.strides);
  }

  Instruction* SliceOfPad(const Instruction& slice, const Bounds& cut, const Instruction& pad) {
    Instruction* x = pad.operand(0);
    if (!cut.IsDense()) return nullptr;
    const int rank = slice.shape().rank();
    Dims low(rank), high(rank), starts(rank), limits(rank);
    bool is_slice = true;
    for (int d = 0; d < rank; ++d) {
      const EdgePadding padding = PadView(pad)[d];
      const int64_t n = x->shape().dim(d);
      // x fills [low, low + n) of the result.
      low[d] = padding.low - cut.starts[d];
      high[d] = slice.shape().dim(d) - low[d] - n;
      if (padding.interior != 0 || low[d] + n <= 0 || high[d] + n <= 0) return nullptr;
      is_slice &= low[d] <= 0 && high[d] <= 0;
      starts[d] = -low[d];
      limits[d] = n + high[d];
    }
    if (is_slice) return b_.Slice(x, starts, limits);
    return IsReadOnce(pad) ? b_.Pad(x, pad.operand(1), low, high) : nullptr;
  }

  Instruction* SliceOfConcatenate(const Bounds& cut, const Instruction& concatenate) {
    const int d = static_cast<int>(concatenate.dimension());
    int64_t begin = 0;
    for (Instruction* part : concatenate.operands()) {
      const int64_t end = begin + part->shape().dim(d);
      if (cut.starts[d] >= begin && cut.limits[d] <= end) {
        Bounds now = cut;
        now.starts[d] -= begin;
        now.limits[d] -= begin;
        return b_.Slice(part, now.starts, now.limits, now.strides);
      }
      begin = end;
    }
    return nullptr;
  }

  Instruction* SliceOfBroadcast(const Instruction& slice, const Instruction& broadcast) {
    for (const int64_t d : broadcast.dimensions()) {
      if (slice.shape().dim(d) != broadcast.shape().dim(d)) return nullptr;
    }
    return b_.Broadcast(broadcast.operand(0), slice.shape().dims(), broadcast.dimensions());
  }

  Instruction* OfPad(const Instruction& pad) {
    Instruction* x = pad.operand(0);
    const int rank = pad.shape().rank();
    bool is_identity = true;
    for (int d = 0; d < rank; ++d) {
      const EdgePadding padding = PadView(pad)[d];
      is_identity &=
          padding.low == 0 && padding.high == 0 && (padding.interior == 0 || pad.shape().dim(d) == 1);
    }
    if (is_identity) return x;
    if (x->opcode() != Opcode::kPad || x->operand(1) != pad.operand(1) || !IsPlain(*x)) return nullptr;
    Dims low(rank), high(rank);
    for (int d = 0; d < rank; ++d) {
      const EdgePadding outer = PadView(pad)[d], inner = PadView(*x)[d];
      if (outer.interior != 0 || inner.interior != 0) return nullptr;
      // Neither pad may cut elements of x.
      if (inner.low < 0 || inner.high < 0 || inner.low + outer.low < 0 || inner.high + outer.high < 0)
        return nullptr;
      low[d] = inner.low + outer.low;
      high[d] = inner.high + outer.high;
    }
    return b_.Pad(x->operand(0), x->operand(1), low, high);
  }

  Instruction* OfReshape(const Instruction& reshape) {
    Instruction* x = reshape.operand(0);
    if (!IsPlain(*x)) return nullptr;
    if (reshape.shape().dims() == x->shape().dims()) return x;
    if (x->opcode() != Opcode::kReshape || !IsPlain(*x->operand(0))) return nullptr;
    return b_.Reshape(x->operand(0), reshape.shape().dims());
  }

  Instruction* OfTranspose(const Instruction& transpose) {
    Instruction* x = transpose.operand(0);
    if (!IsPlain(*x)) return nullptr;
    Dims order(transpose.dimensions().begin(), transpose.dimensions().end());
    if (std::is_sorted(order.begin(), order.end())) return x;
    if (x->opcode() != Opcode::kTranspose || !IsPlain(*x->operand(0))) return nullptr;
    for (int64_t& d : order) d = x->dimensions()[d];
    return b_.Transpose(x->operand(0), order);
  }

  Instruction* OfBroadcast(const Instruction& broadcast) {
    Instruction* x = broadcast.operand(0);
    if (!IsPlain(*x)) return nullptr;
    if (broadcast.shape().dims() == x->shape().dims() &&
        std::is_sorted(broadcast.dimensions().begin(), broadcast.dimensions().end())) {
      return x;
    }
    if (x->opcode() != Opcode::kBroadcast) return nullptr;
    Dims dimensions;
    for (const int64_t d : x->dimensions()) dimensions.push_back(broadcast.dimensions()[d]);
    return b_.Broadcast(x->operand(0), broadcast.shape().dims(), dimensions);
  }

  Instruction* OfSelect(const Instruction& select) {
    Instruction* mask = select.operand(0);
    Instruction* sides[2] = {select.operand(1), select.operand(2)};
    if (sides[0] == sides[1]) return sides[0];
    bool changed = false;
    for (const int side : {0, 1}) {
      while (sides[side]->opcode() == Opcode::kSelect && sides[side]->operand(0) == mask &&
             IsPlain(*sides[side])) {
        sides[side] = sides[side]->operand(1 + side);
        changed = true;
      }
    }
    if (!changed) return nullptr;
    return sides[0] == sides[1] ? sides[0] : b_.Select(mask, sides[0], sides[1]);
  }

  InstructionBuilder b_;
  const std::vector<int>& uses_;  // By index of the original instructions.
  const MergeMovementPass::Options& options_;
};

absl::StatusOr<bool> MergeIn(Computation* computation, const MergeMovementPass::Options& options) {
  const int n = computation->size();
  std::vector<int> uses(n, 0);
  for (const auto& op : computation->instructions()) {
    for (const Instruction* operand : op->operands()) ++uses[operand->index()];
  }
  ++uses[computation->root()->index()];
  Rules rules(computation, uses, options);
  std::vector<Instruction*> now(n, nullptr), order;  // `now`: replacements, by index.
  bool changed = false;
  for (int i = 0; i < n; ++i) {
    Instruction* op = computation->instruction(i);
    for (int k = 0; changed && k < op->num_operands(); ++k) {
      const int index = op->operand(k)->index();
      if (index < n && now[index] != nullptr) op->set_operand(k, now[index]);
    }
    const int size = computation->size();
    Instruction* other = rules.Apply(*op);
    RETURN_IF_ERROR(rules.status());
    for (int k = size; k < computation->size(); ++k) order.push_back(computation->instruction(k));
    order.push_back(op);
    if (other == nullptr || other->shape() != op->shape()) continue;
    now[i] = other;
    changed = true;
  }
  Instruction* root = now[computation->root()->index()];
  if (root != nullptr) computation->set_root(root);
  if (order.size() > static_cast<size_t>(n)) computation->Reorder(order);
  return changed;
}

}  // namespace

absl::StatusOr<bool> MergeMovementPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    if (computation->is_fusion() || computation->root() == nullptr) continue;
    ASSIGN_OR_RETURN(const bool here, MergeIn(computation.get(), options_));
    changed |= here;
  }
  return changed;
}

}  // namespace toroid
