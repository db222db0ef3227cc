#include "hlo/gradient/rules/data_movement.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "hlo/gradient/sweep/leaves.h"
#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

std::vector<int64_t> Inverse(absl::Span<const int64_t> permutation) {
  std::vector<int64_t> inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = static_cast<int64_t>(i);
  return inverse;
}

// The elements of a padded array that are not padding; `dims` are their sizes.
Value Unpad(InstructionBuilder& b, Value x, const PadView& pad, absl::Span<const int64_t> dims) {
  std::vector<int64_t> low, high, zeros(dims.size(), 0), limits, strides;
  for (size_t d = 0; d < dims.size(); ++d) {
    low.push_back(-pad[static_cast<int>(d)].low);
    high.push_back(-pad[static_cast<int>(d)].high);
    strides.push_back(pad[static_cast<int>(d)].interior + 1);
    limits.push_back(dims[d] == 0 ? 0 : (dims[d] - 1) * strides.back() + 1);
  }
  return b.Slice(b.Pad(x, b.Zero(x->shape().element_type()), low, high), zeros, limits, strides);
}

}  // namespace

absl::Status BroadcastGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const absl::Span<const int64_t> dimensions = p.op().dimensions();
  std::vector<int64_t> summed;
  for (int64_t d = 0; d < p.op().shape().rank(); ++d) {
    if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end()) summed.push_back(d);
  }
  const Value sum = summed.empty() ? p.cotangent() : b.Sum(p.cotangent(), summed);
  // The remaining dimensions are in the result's order.
  std::vector<int64_t> order(dimensions.size());
  for (size_t i = 0; i < dimensions.size(); ++i) {
    order[i] =
        std::count_if(dimensions.begin(), dimensions.end(), [&](int64_t d) { return d < dimensions[i]; });
  }
  p.Add(0, b.Transpose(sum, order));
  return absl::OkStatus();
}

absl::Status ReshapeGradient(Pullback& p) {
  p.Add(0, p.b.Reshape(p.cotangent(), p.operand_shape(0).dims()));
  return absl::OkStatus();
}

absl::Status TransposeGradient(Pullback& p) {
  p.Add(0, p.b.Transpose(p.cotangent(), Inverse(p.op().dimensions())));
  return absl::OkStatus();
}

absl::Status ReverseGradient(Pullback& p) {
  p.Add(0, p.b.Reverse(p.cotangent(), p.op().dimensions()));
  return absl::OkStatus();
}

absl::Status ConcatenateGradient(Pullback& p) {
  const int64_t dimension = p.op().dimension();
  int64_t start = 0;
  for (int i = 0; i < p.op().num_operands(); ++i) {
    const int64_t size = p.operand_shape(i).dim(dimension);
    if (p.Wants(i)) p.Add(i, p.b.SliceAlong(p.cotangent(), dimension, start, start + size));
    start += size;
  }
  return absl::OkStatus();
}

absl::Status SliceGradient(Pullback& p) {
  const SliceView slice(p.op());
  std::vector<int64_t> low, high, interior;
  for (int d = 0; d < p.op().shape().rank(); ++d) {
    const auto [start, limit, stride] = slice[d];
    const int64_t n = p.op().shape().dim(d), size = p.operand_shape(0).dim(d);
    low.push_back(n == 0 ? 0 : start);
    interior.push_back(stride - 1);
    high.push_back(n == 0 ? size : size - start - ((n - 1) * stride + 1));
  }
  p.Add(0, p.b.Pad(p.cotangent(), p.b.Zero(p.op().shape().element_type()), low, high, interior));
  return absl::OkStatus();
}

absl::Status PadGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const PadView pad(p.op());
  if (p.Wants(0)) p.Add(0, Unpad(b, p.cotangent(), pad, p.operand_shape(0).dims()));
  if (p.Wants(1)) {
    // The padding value's cotangent: the sum over the padded places.
    const Value inside = b.Full(xla::PRED, p.operand_shape(0).dims(), 0);
    const Value is_padding = b.Op(Opcode::kPad, Shape(xla::PRED, p.op().shape().dims()),
                                  {inside, b.IntScalar(1, xla::PRED)}, &p.op().attrs());
    std::vector<int64_t> all(p.op().shape().rank());
    std::iota(all.begin(), all.end(), int64_t{0});
    p.Add(1, b.Sum(b.Select(is_padding, p.cotangent(), b.FullLike(p.cotangent(), 0)), all));
  }
  return absl::OkStatus();
}

absl::Status IdentityGradient(Pullback& p) {
  const bool is_annotation = p.op().opcode() == Opcode::kCustomCall && p.op().shape().IsArray();
  const std::vector<Shape> leaves = LeafShapes(p.op().shape());
  for (int leaf = 0; leaf < static_cast<int>(leaves.size()); ++leaf) {
    Value cotangent = p.cotangent_or_null(leaf);
    if (cotangent == nullptr) continue;
    // An annotation of the value also holds for its cotangent. Sharding annotations are handled by
    // FollowSharding.
    if (is_annotation && p.op().sharding() == nullptr)
      cotangent = p.b.Clone(p.op(), cotangent->shape(), {cotangent});
    p.Add(0, cotangent, leaf);
  }
  return absl::OkStatus();
}

absl::Status TupleGradient(Pullback& p) {
  int leaf = 0;
  for (int i = 0; i < p.op().num_operands(); ++i) {
    for (int64_t k = 0; k < p.operand_shape(i).NumLeaves(); ++k, ++leaf) {
      if (const Value cotangent = p.cotangent_or_null(leaf)) p.Add(i, cotangent, static_cast<int>(k));
    }
  }
  return absl::OkStatus();
}

absl::Status GetTupleElementGradient(Pullback& p) {
  const int64_t first = LeafOffset(p.operand_shape(0), p.op().tuple_index());
  for (int64_t k = 0; k < p.op().shape().NumLeaves(); ++k) {
    if (const Value cotangent = p.cotangent_or_null(static_cast<int>(k)))
      p.Add(0, cotangent, static_cast<int>(first + k));
  }
  return absl::OkStatus();
}

}  // namespace toroid
