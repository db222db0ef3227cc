#include "simulator/compiler/rewrites/joined_dims_pass.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/builder/neutral_element.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"
#include "simulator/program/elementwise.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

Dims DimsOf(const Shape& shape) { return Dims(shape.dims().begin(), shape.dims().end()); }

int64_t ProductOf(absl::Span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t n : dims) product *= n;
  return product;
}

// [a, b, G, S] where G and S, from dimension `first` on, are pieces of one.
struct Split {
  Dims dims;
  int64_t first = 0;
  bool whole = false;  // Of whole tiles.

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t size() const { return ProductOf(absl::MakeConstSpan(dims).subspan(first)); }
  Dims Joined() const {
    Dims joined(dims.begin(), dims.begin() + first);
    joined.push_back(size());
    return joined;
  }
  bool operator<(const Split& other) const {
    return std::tie(dims, first) < std::tie(other.dims, other.first);
  }
};

// Of a reshape that cuts the last dimension of its operand, whatever it does to the others.
std::optional<Split> SplitOf(const Instruction& op, int64_t lanes) {
  if (op.opcode() != Opcode::kReshape || op.shape().rank() < 2 || op.operand(0)->shape().rank() < 1)
    return std::nullopt;
  const Shape& from = op.operand(0)->shape();
  const int64_t last = from.dim(from.rank() - 1);
  Split split{DimsOf(op.shape()), op.shape().rank() - 1};
  int64_t size = split.dims.back();
  while (size < last && split.first > 0) size *= split.dims[--split.first];
  if (size != last || split.first == split.rank() - 1 || split.dims.back() == 1) return std::nullopt;
  split.whole = split.dims.back() % lanes == 0;
  int pieces = 0;
  for (int64_t d = split.first; d < split.rank(); ++d) pieces += split.dims[d] > 1;
  return pieces > 1 ? std::optional<Split>(std::move(split)) : std::nullopt;
}

// A reduce by one binary op, starting from its neutral element: a sum from 0, a maximum from minus infinity.
bool IsPlain(const Instruction& reduce) {
  if (reduce.num_operands() != 2 || !reduce.shape().IsArray() || reduce.called().size() != 1) return false;
  const Instruction* root = reduce.called(0)->root();
  if (reduce.called(0)->size() != 3 || root->num_operands() != 2 || root->operand(0) == root->operand(1))
    return false;
  if (root->operand(0)->opcode() != Opcode::kParameter || root->operand(1)->opcode() != Opcode::kParameter)
    return false;
  const auto neutral = NeutralElement(root->opcode(), reduce.shape().element_type());
  if (!neutral || reduce.operand(1)->opcode() != Opcode::kConstant) return false;
  const absl::StatusOr<Literal> from = LiteralOf(*reduce.operand(1));
  return from.ok() && *from == *neutral;
}

// All of one split in a computation.
class Joiner {
 public:
  Joiner(Computation* computation, const UserMap& users, const Split& split)
      : computation_(computation),
        users_(users),
        split_(split),
        builder_(computation),
        joins_(computation->size(), false) {}

  // How many values would have to be cut, and how many are now.
  bool IsWorthwhile();
  void Build(std::vector<Instruction*>* now);
  absl::Status status() const { return builder_.status(); }

 private:
  bool HasDims(const Instruction& op) const {
    return op.shape().IsArray() && op.shape().dims() == absl::MakeConstSpan(split_.dims);
  }
  bool IsEntry(const Instruction& op) const {
    const Shape& shape = op.shape();
    return op.opcode() == Opcode::kReshape && HasDims(op) && op.operand(0)->shape().rank() > 0 &&
           op.operand(0)->shape().dims().back() == split_.size() && shape.rank() == split_.rank();
  }
  // Back to one dimension, whatever becomes of the others.
  bool IsEnd(const Instruction& op) const {
    return op.opcode() == Opcode::kReshape && op.shape().rank() > 0 &&
           op.shape().dims().back() == split_.size();
  }
  bool IsPiece(int64_t d) const { return d >= split_.first; }
  bool CanSpread(const Instruction& broadcast) const;
  bool CanReduce(const Instruction& reduce) const;
  bool CanJoin(const Instruction& op) const;
  bool IsSummedBehindBarrier(const Instruction& op) const;
  Instruction* Spread(const Instruction& broadcast);
  Instruction* Reduced(const Instruction& reduce);
  Instruction* Image(Instruction* op);

  Computation* computation_;
  const UserMap& users_;
  const Split split_;
  InstructionBuilder builder_;
  std::vector<bool> joins_;  // By index: the value is made joined.
  std::vector<Instruction*> images_;
};

bool Joiner::CanSpread(const Instruction& broadcast) const {
  if (broadcast.opcode() != Opcode::kBroadcast || !HasDims(broadcast)) return false;
  const auto dims = broadcast.dimensions();
  if (!std::is_sorted(dims.begin(), dims.end())) return false;
  int64_t pieces = 0, spread = 1;
  for (const int64_t d : dims) {
    pieces += IsPiece(d);
    if (!IsPiece(d)) spread *= split_.dims[d];
  }
  return split_.whole || pieces == 0 || pieces == split_.rank() - split_.first ||
         Thresholds().joined_spread() * spread * split_.size() <= ProductOf(split_.dims);
}

bool Joiner::CanReduce(const Instruction& reduce) const {
  if (reduce.opcode() != Opcode::kReduce || !IsPlain(reduce)) return false;
  int64_t pieces = 0, others = 1;
  for (const int64_t d : reduce.dimensions()) {
    pieces += IsPiece(d);
    if (!IsPiece(d)) others *= split_.dims[d];
  }
  return pieces == 0 || pieces == split_.rank() - split_.first ||
         (others >= Thresholds().joined_spread() && !split_.whole);
}

bool Joiner::CanJoin(const Instruction& op) const {
  if (!HasDims(op) || !op.control_predecessors().empty()) return false;
  if (IsEntry(op) || CanSpread(op)) return true;
  if (!IsElementwise(op) || op.opcode() == Opcode::kOptimizationBarrier) return false;
  bool any = false;
  for (const Instruction* operand : op.operands()) {
    if (operand->shape().rank() == 0) continue;
    if (!joins_[operand->index()]) return false;
    any = true;
  }
  return any;
}

bool Joiner::IsSummedBehindBarrier(const Instruction& op) const {
  if (op.opcode() != Opcode::kOptimizationBarrier) return false;
  return absl::c_any_of(users_.users(op), [&](const Instruction* user) { return CanReduce(*user); });
}

bool Joiner::IsWorthwhile() {
  int entries = 0, exits = 0;
  bool returns = false;
  for (int i = 0; i < computation_->size(); ++i) {
    const Instruction* op = computation_->instruction(i);
    joins_[i] = CanJoin(*op);
    entries += joins_[i] && IsEntry(*op);
  }
  int gains = 0;
  for (int i = 0; i < computation_->size(); ++i) {
    const Instruction* op = computation_->instruction(i);
    if (!joins_[i] || op->opcode() == Opcode::kBroadcast) continue;
    bool leaves = op == computation_->root();
    for (const Instruction* user : users_.users(*op)) {
      const bool joins = joins_[user->index()] || CanReduce(*user) || IsEnd(*user);
      leaves |= !joins;
      gains += joins || (IsEntry(*op) && IsSummedBehindBarrier(*user));
      returns |= IsEnd(*user);
    }
    exits += leaves;
  }
  // Whole tiles are moved as they are; only what is put together again gains.
  return entries > 0 && exits <= entries && gains > 0 && (returns || !split_.whole);
}

// What is spread to the pieces is put together before it is spread to the rest; to whole tiles, behind.
Instruction* Joiner::Spread(const Instruction& broadcast) {
  Instruction* from = broadcast.operand(0);
  if (split_.whole && !broadcast.dimensions().empty()) {
    const Dims places(broadcast.dimensions().begin(), broadcast.dimensions().end());
    return builder_.Reshape(builder_.Broadcast(from, split_.dims, places), split_.Joined());
  }
  Dims outer, first_sizes, first_places, joined_sizes;
  const auto dims = broadcast.dimensions();
  int64_t pieces = 0;
  for (size_t k = 0; k < dims.size(); ++k) {
    pieces += IsPiece(dims[k]);
    if (IsPiece(dims[k])) continue;
    outer.push_back(dims[k]);
    first_sizes.push_back(split_.dims[dims[k]]);
  }
  joined_sizes = first_sizes;
  if (pieces > 0) {
    const int64_t rank = static_cast<int64_t>(outer.size());
    for (size_t k = 0; k < dims.size(); ++k) {
      first_places.push_back(IsPiece(dims[k]) ? rank + dims[k] - split_.first : static_cast<int64_t>(k));
    }
    for (int64_t d = split_.first; d < split_.rank(); ++d) first_sizes.push_back(split_.dims[d]);
    joined_sizes.push_back(split_.size());
    from = builder_.Reshape(builder_.Broadcast(from, first_sizes, first_places), joined_sizes);
    outer.push_back(split_.first);
  }
  return builder_.Broadcast(from, split_.Joined(), outer);
}

Instruction* Joiner::Reduced(const Instruction& reduce) {
  Dims whole, left_sizes, pieces;  // `left_sizes`: cut again.
  int64_t kept = 0;
  const auto dims = reduce.dimensions();
  const auto is_reduced = [&](int64_t d) { return absl::c_linear_search(dims, d); };
  bool all = true;
  for (int64_t d = split_.first; d < split_.rank(); ++d) all &= is_reduced(d);
  for (int64_t d = 0; d < split_.first; ++d) {
    if (is_reduced(d)) {
      whole.push_back(d);
    } else {
      left_sizes.push_back(split_.dims[d]);
      ++kept;
    }
  }
  if (all) whole.push_back(split_.first);
  Instruction* init = reduce.operand(1);
  const auto reduced = [&](Instruction* x, const Dims& over, absl::Span<const int64_t> sizes) {
    if (over.empty()) return x;
    return builder_.Op(Opcode::kReduce, Shape(reduce.shape().element_type(), sizes), {x, init},
                       builder_.WithDimensions(over), {reduce.called(0)});
  };
  Dims joined = left_sizes;
  if (!all) joined.push_back(split_.size());
  Instruction* result = reduced(images_[reduce.operand(0)->index()], whole, joined);
  if (all) return result;
  for (int64_t d = split_.first; d < split_.rank(); ++d) {
    left_sizes.push_back(split_.dims[d]);
    if (is_reduced(d)) pieces.push_back(kept + d - split_.first);
  }
  return reduced(builder_.Reshape(result, left_sizes), pieces, reduce.shape().dims());
}

Instruction* Joiner::Image(Instruction* op) {
  builder_.set_metadata(op->metadata());
  if (IsEntry(*op)) return builder_.Reshape(op->operand(0), split_.Joined());
  if (op->opcode() == Opcode::kBroadcast) return Spread(*op);
  std::vector<Instruction*> operands;
  for (Instruction* operand : op->operands()) {
    operands.push_back(operand->shape().rank() == 0 ? operand : images_[operand->index()]);
  }
  return builder_.Clone(*op, Shape(op->shape().element_type(), split_.Joined()), operands);
}

void Joiner::Build(std::vector<Instruction*>* now) {
  const int n = static_cast<int>(joins_.size());
  images_.assign(n, nullptr);
  for (int i = 0; i < n; ++i) {
    Instruction* op = computation_->instruction(i);
    if ((*now)[i] != nullptr) continue;
    const bool reads =
        op->num_operands() > 0 && op->operand(0)->index() < n && images_[op->operand(0)->index()] != nullptr;
    if (joins_[i]) {
      images_[i] = Image(op);
      // Who cannot work on it so reads it cut.
      if (op->opcode() != Opcode::kBroadcast && !IsEntry(*op))
        (*now)[i] = builder_.Reshape(images_[i], split_.dims);
    } else if (reads && op->opcode() == Opcode::kOptimizationBarrier && IsEntry(*op->operand(0))) {
      // A sum of it and nothing else is one of what was not cut, behind the barrier too.
      images_[i] = images_[op->operand(0)->index()];
    } else if (reads && op->opcode() == Opcode::kReduce && CanReduce(*op)) {
      builder_.set_metadata(op->metadata());
      (*now)[i] = Marked(Rule::kCutLanesJoin, Reduced(*op));
    } else if (reads && IsEnd(*op)) {
      builder_.set_metadata(op->metadata());
      (*now)[i] = builder_.Reshape(images_[op->operand(0)->index()], op->shape().dims());
    }
  }
}

}  // namespace

absl::StatusOr<bool> JoinedDimsPass::Run(std::unique_ptr<Module>* module) {
  if (!IsOn(Rule::kCutLanesJoin)) return false;
  bool changed = false;
  const int count = (*module)->num_computations();
  for (int c = 0; c < count; ++c) {
    Computation* computation = (*module)->computation(c);
    absl::btree_map<Split, bool> splits;
    for (const auto& op : computation->instructions()) {
      if (const auto split = SplitOf(*op, lanes_)) splits[*split] = true;
    }
    for (const auto& [split, unused] : splits) {
      const UserMap users(*computation);
      Joiner joiner(computation, users, split);
      if (!joiner.IsWorthwhile()) continue;
      std::vector<Instruction*> now(computation->size(), nullptr);
      joiner.Build(&now);
      RETURN_IF_ERROR(joiner.status());
      RETURN_IF_ERROR(ReplaceAndDrop(computation, now));
      changed = true;
    }
  }
  return changed;
}

}  // namespace toroid
