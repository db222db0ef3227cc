#include "hlo/gradient/rules/reduce.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/gradient/rules/reducers.h"
#include "hlo/ir/edit.h"

namespace toroid {
namespace {

// Products of the elements before each one along a dimension.
Value ProductsBefore(InstructionBuilder& b, Value x, int64_t dimension) {
  const Value one = b.IntScalar(1, x->shape().element_type());
  const Value shifted =
      b.PadAlong(b.SliceAlong(x, dimension, 0, x->shape().dim(dimension) - 1), dimension, 1, 0, one);
  return b.CumulativeReduce(Opcode::kMultiply, shifted, dimension);
}

// For each element along the last dimension: the product of all others.
Value ProductsOfOthers(InstructionBuilder& b, Value x) {
  const int64_t last = x->shape().rank() - 1;
  const Value behind = b.Reverse(ProductsBefore(b, b.Reverse(x, {last}), last), {last});
  return b.Multiply(ProductsBefore(b, x, last), behind);
}

std::vector<int64_t> AllDims(int rank) {
  std::vector<int64_t> all;
  for (int64_t d = 0; d < rank; ++d) all.push_back(d);
  return all;
}

class ReducePullback {
 public:
  explicit ReducePullback(Pullback& p) : p_(p), b_(p.b), dims_(p.operand_shape(0).dims()) {
    for (int64_t d = 0; d < p.operand_shape(0).rank(); ++d) {
      const bool is_reduced =
          std::find(p.op().dimensions().begin(), p.op().dimensions().end(), d) != p.op().dimensions().end();
      (is_reduced ? reduced_ : kept_).push_back(d);
    }
  }

  void Sum() {
    p_.Add(0, Spread(p_.cotangent()));
    if (p_.Wants(1)) p_.Add(1, b_.Sum(p_.cotangent(), AllDims(p_.op().shape().rank())));
  }

  // Maximum, minimum: the initial value takes its share too.
  void Extreme() {
    const Value result = p_.result();
    const Value is_it =
        b_.Convert(b_.Compare(p_.operand(0), Spread(result), "EQ"), result->shape().element_type());
    const Value init_is =
        b_.Convert(b_.Compare(b_.Broadcast(p_.operand(1), result->shape().dims()), result, "EQ"),
                   result->shape().element_type());
    const Value share = b_.Divide(p_.cotangent(), b_.Add(b_.Sum(is_it, reduced_), init_is));
    p_.Add(0, b_.Multiply(is_it, Spread(share)));
    if (p_.Wants(1)) p_.Add(1, b_.Sum(b_.Multiply(init_is, share), AllDims(p_.op().shape().rank())));
  }

  void Product() {
    const Value x = p_.operand(0);
    if (p_.Wants(0)) {
      // Move the reduced dimensions into one last dimension.
      std::vector<int64_t> order = kept_, sizes, moved;
      order.insert(order.end(), reduced_.begin(), reduced_.end());
      int64_t n = 1;
      for (const int64_t d : kept_) sizes.push_back(dims_[d]);
      for (const int64_t d : reduced_) n *= dims_[d];
      sizes.push_back(n);
      for (const int64_t d : order) moved.push_back(dims_[d]);
      if (n > 0) {
        const Value others =
            b_.Reshape(ProductsOfOthers(b_, b_.Reshape(b_.Transpose(x, order), sizes)), moved);
        std::vector<int64_t> back(order.size());
        for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
        const Value with_init =
            b_.Multiply(p_.cotangent(), b_.Broadcast(p_.operand(1), p_.op().shape().dims()));
        p_.Add(0, b_.Multiply(b_.Transpose(others, back), Spread(with_init)));
      }
    }
    if (p_.Wants(1)) {
      p_.Add(1, b_.Sum(b_.Multiply(p_.cotangent(), b_.Reduce(Opcode::kMultiply, x, reduced_)),
                       AllDims(p_.op().shape().rank())));
    }
  }

 private:
  // A result, broadcast to the places that were reduced to it.
  Value Spread(Value result) { return b_.BroadcastOver(result, dims_, reduced_); }

  Pullback& p_;
  InstructionBuilder& b_;
  const absl::Span<const int64_t> dims_;
  std::vector<int64_t> reduced_, kept_;
};

}  // namespace

std::optional<Opcode> OneOpReducer(const Computation& computation) {
  const Instruction* root = computation.root();
  if (root == nullptr || computation.num_parameters() != 2 || root->num_operands() != 2) return std::nullopt;
  const bool in_order =
      root->operand(0) == computation.parameter(0) && root->operand(1) == computation.parameter(1);
  const bool turned =
      root->operand(1) == computation.parameter(0) && root->operand(0) == computation.parameter(1);
  if (!in_order && !turned) return std::nullopt;
  return root->opcode();
}

namespace {

// How a reducer of several arrays combines one of them.
struct LeafFold {
  bool adds = false;
  // Otherwise: the accumulator stays if this is equal to stays_if.
  const Instruction* condition = nullptr;
  bool stays_if = true;
  Opcode extreme = Opcode::kUnknown;  // kMaximum, kMinimum: by comparing the two.
};

std::optional<LeafFold> FoldOf(const Computation& reducer, int leaf, int n) {
  const Instruction* root = reducer.root();
  if (root->shape().IsTuple()) {
    if (root->opcode() != Opcode::kTuple) return std::nullopt;
    root = root->operand(leaf);
  }
  const Instruction *a = reducer.parameter(leaf), *b = reducer.parameter(n + leaf);
  LeafFold fold;
  if (root->opcode() == Opcode::kSelect) {
    fold.condition = root->operand(0);
    fold.stays_if = root->operand(1) == a;
    const bool chooses =
        (root->operand(1) == a && root->operand(2) == b) || (root->operand(1) == b && root->operand(2) == a);
    if (!chooses) return std::nullopt;
    return fold;
  }
  if (root->num_operands() != 2) return std::nullopt;
  const bool of_both =
      (root->operand(0) == a && root->operand(1) == b) || (root->operand(0) == b && root->operand(1) == a);
  if (!of_both) return std::nullopt;
  fold.adds = root->opcode() == Opcode::kAdd;
  fold.extreme = root->opcode();
  if (!fold.adds && fold.extreme != Opcode::kMaximum && fold.extreme != Opcode::kMinimum) return std::nullopt;
  return fold;
}

class ChoicePullback {
 public:
  explicit ChoicePullback(Pullback& p)
      : p_(p),
        b_(p.b),
        n_(p.op().num_operands() / 2),
        reducer_(*p.op().called(0)),
        dims_(p.operand_shape(0).dims()) {
    reduced_.assign(p.op().dimensions().begin(), p.op().dimensions().end());
    all_.resize(p.operand_shape(0).rank() - reduced_.size());
    std::iota(all_.begin(), all_.end(), int64_t{0});
  }

  absl::Status Run() {
    for (int leaf = 0; leaf < n_; ++leaf) {
      if (p_.cotangent_or_null(leaf) == nullptr) continue;
      const std::optional<LeafFold> fold = FoldOf(reducer_, leaf, n_);
      if (!fold) {
        return absl::UnimplementedError(absl::StrCat("a reduction by ", reducer_.name(),
                                                     ", which neither adds nor chooses one "
                                                     "of two elements, has no gradient"));
      }
      const Value t = p_.cotangent(leaf);
      if (fold->adds) {
        p_.Add(leaf, Spread(t));
        if (p_.Wants(n_ + leaf)) p_.Add(n_ + leaf, b_.Sum(t, all_));
        continue;
      }
      const Value chosen = PlacesChosen(*fold, leaf);
      p_.Add(leaf, Masked(Spread(t), b_.Compare(Places(), Spread(chosen), "EQ")));
      if (!p_.Wants(n_ + leaf)) continue;
      p_.Add(n_ + leaf, b_.Sum(Masked(t, b_.Compare(chosen, b_.FullLike(chosen, -1), "EQ")), all_));
    }
    return absl::OkStatus();
  }

 private:
  Value Spread(Value result) { return b_.BroadcastOver(result, dims_, reduced_); }
  Value Masked(Value x, Value mask) { return b_.Select(mask, x, b_.FullLike(x, 0)); }

  // Numbers 0, 1, ... of the elements that are reduced to one.
  Value Places() {
    Value places = b_.Zeros(xla::S32, dims_);
    int64_t stride = 1;
    for (const int64_t d : reduced_) {
      const Value along = b_.Iota(xla::S32, dims_, d);
      places = b_.Add(places, b_.Multiply(along, b_.Broadcast(b_.IntScalar(stride), dims_)));
      stride *= dims_[d];
    }
    return places;
  }

  // The place of the element that became the result; -1 for the initial value.
  Value PlacesChosen(const LeafFold& fold, int leaf) {
    InstructionBuilder inner = b_.InNewComputation(absl::StrCat(reducer_.name(), ".place"));
    std::vector<Value> sides[2];
    Value place[2];
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < n_; ++i)
        sides[side].push_back(inner.Parameter(reducer_.parameter(side * n_ + i)->shape(), ""));
      place[side] = inner.Parameter(Shape(xla::S32, {}), "place");
    }
    std::vector<Value> arguments = sides[0];
    arguments.insert(arguments.end(), sides[1].begin(), sides[1].end());
    const std::vector<Instruction*> map = CloneInstructions(reducer_, arguments, inner.computation());
    Value condition = fold.condition != nullptr ? map[fold.condition->index()] : nullptr;
    if (condition == nullptr) {
      condition =
          inner.Compare(sides[0][leaf], sides[1][leaf], fold.extreme == Opcode::kMaximum ? "GE" : "LE");
    }
    std::vector<Value> results;
    if (n_ == 1) {
      results.push_back(map[reducer_.root()->index()]);
    } else {
      for (int i = 0; i < n_; ++i) results.push_back(map[reducer_.root()->operand(i)->index()]);
    }
    results.push_back(inner.Select(condition, place[fold.stays_if ? 0 : 1], place[fold.stays_if ? 1 : 0]));
    Computation* both = inner.Finish(inner.Tuple(results));
    std::vector<Value> operands, inits;
    for (int i = 0; i < n_; ++i) {
      operands.push_back(p_.operand(i));
      inits.push_back(p_.operand(n_ + i));
    }
    operands.push_back(Places());
    inits.push_back(b_.IntScalar(-1));
    return b_.GetTupleElement(b_.Reduce(operands, inits, reduced_, both), n_);
  }

  Pullback& p_;
  InstructionBuilder& b_;
  const int n_;
  const Computation& reducer_;
  const absl::Span<const int64_t> dims_;
  std::vector<int64_t> reduced_, all_;  // all_: all dimensions of the result.
};

}  // namespace

absl::Status ReduceGradient(Pullback& p) {
  const std::optional<Opcode> reducer = OneOpReducer(*p.op().called(0));
  if (p.op().num_operands() != 2 || !reducer) return ChoicePullback(p).Run();
  ReducePullback pullback(p);
  switch (*reducer) {
    case Opcode::kAdd:
      pullback.Sum();
      return absl::OkStatus();
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      pullback.Extreme();
      return absl::OkStatus();
    case Opcode::kMultiply:
      pullback.Product();
      return absl::OkStatus();
    default:
      return absl::UnimplementedError(
          absl::StrCat("reductions by ", OpcodeName(*reducer), " have no gradient"));
  }
}

}  // namespace toroid
