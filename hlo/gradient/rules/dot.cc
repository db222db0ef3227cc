#include "hlo/gradient/rules/dot.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "hlo/gradient/rules/expansion.h"
#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

struct Side {
  int operand;
  absl::Span<const int64_t> batch, contracting;
  std::vector<int64_t> free;
  int64_t free_at;  // First free dimension in the result.
};

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::vector<int64_t> FreeDims(int rank, absl::Span<const int64_t> batch,
                              absl::Span<const int64_t> contracting) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(batch, d) && !Contains(contracting, d)) free.push_back(d);
  }
  return free;
}

void AddTo(Pullback& p, const Side& side, const Side& other) {
  if (!p.Wants(side.operand)) return;
  InstructionBuilder& b = p.b;
  Value t = p.cotangent(), with = p.operand(other.operand);
  // A product of bf16 may have a wider result: the cotangent keeps its precision.
  if (t->shape().element_type() != with->shape().element_type())
    with = b.Convert(with, t->shape().element_type());
  xla::HloInstructionProto* attrs = b.NewAttrs();
  xla::DotDimensionNumbers& numbers = *attrs->mutable_dot_dimension_numbers();
  for (size_t i = 0; i < side.batch.size(); ++i) {
    numbers.add_lhs_batch_dimensions(static_cast<int64_t>(i));
    numbers.add_rhs_batch_dimensions(other.batch[i]);
  }
  for (size_t i = 0; i < other.free.size(); ++i) {
    numbers.add_lhs_contracting_dimensions(other.free_at + static_cast<int64_t>(i));
    numbers.add_rhs_contracting_dimensions(other.free[i]);
  }
  if (p.op().attrs().has_precision_config())
    *attrs->mutable_precision_config() = p.op().attrs().precision_config();
  const Value product = b.Op(Opcode::kDot, Shape(t->shape().element_type(), {}), {t, with}, attrs);
  // Place of each operand dimension in the product; the other operand's remaining dimensions keep their
  // order.
  std::vector<int64_t> left(other.contracting.begin(), other.contracting.end());
  std::sort(left.begin(), left.end());
  std::vector<int64_t> order(p.operand_shape(side.operand).rank());
  int64_t at = 0;
  for (const int64_t d : side.batch) order[d] = at++;
  for (const int64_t d : side.free) order[d] = at++;
  for (const int64_t of_other : left) {
    const int64_t i =
        std::find(other.contracting.begin(), other.contracting.end(), of_other) - other.contracting.begin();
    order[side.contracting[i]] = at++;
  }
  p.Add(side.operand, b.Transpose(product, order));
}

}  // namespace

namespace {

absl::Status GradientOfDot(Pullback& p, const xla::DotDimensionNumbers& of_dot) {
  const DotView dot(of_dot);
  Side lhs = {0, dot.lhs_batch(), dot.lhs_contracting(), {}, 0},
       rhs = {1, dot.rhs_batch(), dot.rhs_contracting(), {}, 0};
  lhs.free = FreeDims(p.operand_shape(0).rank(), lhs.batch, lhs.contracting);
  rhs.free = FreeDims(p.operand_shape(1).rank(), rhs.batch, rhs.contracting);
  lhs.free_at = static_cast<int64_t>(lhs.batch.size());
  rhs.free_at = lhs.free_at + static_cast<int64_t>(lhs.free.size());
  if (of_dot.lhs_batch_dimensions_size() != static_cast<int>(rhs.batch.size())) {
    return absl::InvalidArgumentError("batch dimensions differ in number");
  }
  AddTo(p, lhs, rhs);
  AddTo(p, rhs, lhs);
  return absl::OkStatus();
}

// The roles of the dimensions in a ragged-dot. The result is [g if the ragged dimension is contracted, batch,
// free of lhs, free of rhs without groups].
class RaggedPullback {
 public:
  explicit RaggedPullback(Pullback& p)
      : p_(p),
        b_(p.b),
        numbers_(p.op().attrs().ragged_dot_dimension_numbers()),
        dot_(numbers_.dot_dimension_numbers()),
        ragged_(numbers_.lhs_ragged_dimensions(0)) {
    lhs_free_ = FreeDims(p.operand_shape(0).rank(), dot_.lhs_batch(), dot_.lhs_contracting());
    rhs_free_ = FreeDims(p.operand_shape(1).rank(), dot_.rhs_batch(), dot_.rhs_contracting());
    for (const int64_t group : numbers_.rhs_group_dimensions()) std::erase(rhs_free_, group);
    is_contracted_ = Contains(dot_.lhs_contracting(), ragged_);
    const int64_t first = is_contracted_ ? 1 : 0, batch = static_cast<int64_t>(dot_.lhs_batch().size());
    const auto places = [](int64_t begin, size_t count) {
      std::vector<int64_t> all(count);
      std::iota(all.begin(), all.end(), begin);
      return all;
    };
    t_batch_ = places(first, dot_.lhs_batch().size());
    t_lhs_ = places(first + batch, lhs_free_.size());
    t_rhs_ = places(first + batch + static_cast<int64_t>(lhs_free_.size()), rhs_free_.size());
  }

  absl::Status Run() {
    if (Contains(dot_.lhs_batch(), ragged_)) return GradientOfDot(p_, numbers_.dot_dimension_numbers());
    if (p_.operand_shape(2).rank() != 1) {
      return absl::UnimplementedError(
          "a ragged-dot whose group sizes differ along other dimensions has no gradient");
    }
    is_contracted_ ? OfContracted() : OfFree();
    return absl::OkStatus();
  }

 private:
  struct Operand {
    Value value;
    absl::Span<const int64_t> batch, contracting;
  };

  Value RaggedDot(const Operand& lhs, const Operand& rhs, int64_t ragged, std::optional<int64_t> group) {
    xla::HloInstructionProto* attrs = b_.NewAttrs();
    xla::RaggedDotDimensionNumbers& numbers = *attrs->mutable_ragged_dot_dimension_numbers();
    xla::DotDimensionNumbers& dot = *numbers.mutable_dot_dimension_numbers();
    const auto copy = [](absl::Span<const int64_t> from, auto* to) { to->Add(from.begin(), from.end()); };
    copy(lhs.batch, dot.mutable_lhs_batch_dimensions());
    copy(rhs.batch, dot.mutable_rhs_batch_dimensions());
    copy(lhs.contracting, dot.mutable_lhs_contracting_dimensions());
    copy(rhs.contracting, dot.mutable_rhs_contracting_dimensions());
    numbers.add_lhs_ragged_dimensions(ragged);
    if (group) numbers.add_rhs_group_dimensions(*group);
    if (p_.op().attrs().has_precision_config())
      *attrs->mutable_precision_config() = p_.op().attrs().precision_config();
    const PrimitiveType type = p_.cotangent()->shape().element_type();
    return b_.Op(Opcode::kRaggedDot, Shape(type, {}),
                 {b_.Convert(lhs.value, type), b_.Convert(rhs.value, type), p_.operand(2)}, attrs);
  }

  // Adds `product`, which has the operand's dimensions in `order`, to the operand's cotangent.
  void AddIn(int operand, Value product, absl::Span<const std::vector<int64_t>> order) {
    std::vector<int64_t> place(p_.operand_shape(operand).rank());
    int64_t at = 0;
    for (const std::vector<int64_t>& dims : order) {
      for (const int64_t d : dims) place[d] = at++;
    }
    p_.Add(operand, b_.Transpose(product, place));
  }
  static std::vector<int64_t> List(absl::Span<const int64_t> dims) { return {dims.begin(), dims.end()}; }
  // The contracted dimensions `own`, in the order of their partners in `other`.
  static std::vector<int64_t> InOrderOf(absl::Span<const int64_t> other, absl::Span<const int64_t> own) {
    std::vector<int64_t> sorted(other.begin(), other.end()), dims;
    std::sort(sorted.begin(), sorted.end());
    for (const int64_t d : sorted)
      dims.push_back(own[std::find(other.begin(), other.end(), d) - other.begin()]);
    return dims;
  }

  void OfFree() {
    const Value t = p_.cotangent();
    const int64_t group = numbers_.rhs_group_dimensions(0);
    const int64_t in_t = t_lhs_[std::find(lhs_free_.begin(), lhs_free_.end(), ragged_) - lhs_free_.begin()];
    if (p_.Wants(0)) {
      AddIn(0, RaggedDot({t, t_batch_, t_rhs_}, {p_.operand(1), dot_.rhs_batch(), rhs_free_}, in_t, group),
            {List(dot_.lhs_batch()), lhs_free_, InOrderOf(dot_.rhs_contracting(), dot_.lhs_contracting())});
    }
    if (p_.Wants(1)) {
      AddIn(1,
            RaggedDot({p_.operand(0), dot_.lhs_batch(), lhs_free_}, {t, t_batch_, t_lhs_}, ragged_,
                      std::nullopt),
            {{group},
             List(dot_.rhs_batch()),
             InOrderOf(dot_.lhs_contracting(), dot_.rhs_contracting()),
             rhs_free_});
    }
  }

  void OfContracted() {
    const Value t = p_.cotangent();
    const auto contracting = dot_.lhs_contracting();
    const int64_t of_rhs = dot_.rhs_contracting()[std::find(contracting.begin(), contracting.end(), ragged_) -
                                                  contracting.begin()];
    if (p_.Wants(0)) {
      AddIn(0, RaggedDot({p_.operand(1), dot_.rhs_batch(), rhs_free_}, {t, t_batch_, t_rhs_}, of_rhs, 0),
            {List(dot_.lhs_batch()), InOrderOf(dot_.rhs_contracting(), contracting), lhs_free_});
    }
    if (p_.Wants(1)) {
      AddIn(1, RaggedDot({p_.operand(0), dot_.lhs_batch(), lhs_free_}, {t, t_batch_, t_lhs_}, ragged_, 0),
            {List(dot_.rhs_batch()), InOrderOf(contracting, dot_.rhs_contracting()), rhs_free_});
    }
  }

  Pullback& p_;
  InstructionBuilder& b_;
  const xla::RaggedDotDimensionNumbers& numbers_;
  const DotView dot_;
  const int64_t ragged_;
  bool is_contracted_;
  std::vector<int64_t> lhs_free_, rhs_free_;
  std::vector<int64_t> t_batch_, t_lhs_, t_rhs_;  // Places in the result.
};

// The scale of each block, broadcast to its elements.
Value Spread(InstructionBuilder& b, Value scale, absl::Span<const int64_t> dims) {
  Dims blocks;
  std::vector<int64_t> places;
  for (size_t d = 0; d < dims.size(); ++d) {
    places.push_back(static_cast<int64_t>(blocks.size()));
    blocks.push_back(scale->shape().dim(static_cast<int64_t>(d)));
    blocks.push_back(blocks.back() == 0 ? 0 : dims[d] / blocks.back());
  }
  return b.Reshape(b.Broadcast(scale, blocks, places), dims);
}

}  // namespace

absl::Status DotGradient(Pullback& p) { return GradientOfDot(p, p.op().attrs().dot_dimension_numbers()); }

absl::Status RaggedDotGradient(Pullback& p) { return RaggedPullback(p).Run(); }

absl::Status ScaledDotGradient(Pullback& p) {
  return GradientByExpansion(
      p, [&](InstructionBuilder& b, absl::Span<const Value> operands) -> absl::StatusOr<Value> {
        const bool is_double =
            p.op().shape().element_type() == xla::F64 || p.operand_shape(0).element_type() == xla::F64;
        const PrimitiveType type = is_double ? xla::F64 : xla::F32;
        Value sides[2];
        for (int i = 0; i < 2; ++i) {
          sides[i] = b.Convert(operands[i], type);
          // A scalar means no scale.
          if (operands[2 + i]->shape().rank() == 0) continue;
          sides[i] =
              b.Multiply(sides[i], Spread(b, b.Convert(operands[2 + i], type), sides[i]->shape().dims()));
        }
        return b.Convert(b.Dot(sides[0], sides[1], p.op().attrs().dot_dimension_numbers()),
                         p.op().shape().element_type());
      });
}

}  // namespace toroid
