#include "hlo/gradient/reduce.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/gradient/reducers.h"

namespace toroid {
namespace {

// Products of the elements before each one along a dimension.
Value ProductsBefore(InstructionBuilder& b, Value x, int64_t dimension) {
  const Value one = b.IntScalar(1, x->shape().element_type());
  const Value shifted = b.PadAlong(b.SliceAlong(x, dimension, 0, x->shape().dim(dimension) - 1), dimension, 1, 0, one);
  return b.CumulativeReduce(Opcode::kMultiply, shifted, dimension);
}

// For each element along the last dimension the product of all others.
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
      const bool is_reduced = std::find(p.op().dimensions().begin(), p.op().dimensions().end(), d) != p.op().dimensions().end();
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
    const Value is_it = b_.Convert(b_.Compare(p_.operand(0), Spread(result), "EQ"), result->shape().element_type());
    const Value init_is = b_.Convert(b_.Compare(b_.Broadcast(p_.operand(1), result->shape().dims()), result, "EQ"),
                                     result->shape().element_type());
    const Value share = b_.Divide(p_.cotangent(), b_.Add(b_.Sum(is_it, reduced_), init_is));
    p_.Add(0, b_.Multiply(is_it, Spread(share)));
    if (p_.Wants(1)) p_.Add(1, b_.Sum(b_.Multiply(init_is, share), AllDims(p_.op().shape().rank())));
  }

  void Product() {
    const Value x = p_.operand(0);
    if (p_.Wants(0)) {
      // What is reduced as one last dimension.
      std::vector<int64_t> order = kept_, sizes, moved;
      order.insert(order.end(), reduced_.begin(), reduced_.end());
      int64_t n = 1;
      for (const int64_t d : kept_) sizes.push_back(dims_[d]);
      for (const int64_t d : reduced_) n *= dims_[d];
      sizes.push_back(n);
      for (const int64_t d : order) moved.push_back(dims_[d]);
      if (n > 0) {
        const Value others = b_.Reshape(ProductsOfOthers(b_, b_.Reshape(b_.Transpose(x, order), sizes)), moved);
        std::vector<int64_t> back(order.size());
        for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
        const Value with_init = b_.Multiply(p_.cotangent(), b_.Broadcast(p_.operand(1), p_.op().shape().dims()));
        p_.Add(0, b_.Multiply(b_.Transpose(others, back), Spread(with_init)));
      }
    }
    if (p_.Wants(1)) {
      p_.Add(1, b_.Sum(b_.Multiply(p_.cotangent(), b_.Reduce(Opcode::kMultiply, x, reduced_)),
                       AllDims(p_.op().shape().rank())));
    }
  }

 private:
  // A result at the places that it was reduced from.
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
  const bool in_order = root->operand(0) == computation.parameter(0) && root->operand(1) == computation.parameter(1);
  const bool turned = root->operand(1) == computation.parameter(0) && root->operand(0) == computation.parameter(1);
  if (!in_order && !turned) return std::nullopt;
  return root->opcode();
}

absl::Status ReduceGradient(Pullback& p) {
  const std::optional<Opcode> reducer = OneOpReducer(*p.op().called(0));
  if (p.op().num_operands() != 2 || !reducer) {
    return absl::UnimplementedError("reductions of several arrays or by more than one op have no gradient");
  }
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
      return absl::UnimplementedError(absl::StrCat("reductions by ", OpcodeName(*reducer), " have no gradient"));
  }
}

}  // namespace toroid
