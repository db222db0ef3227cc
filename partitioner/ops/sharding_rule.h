// Sharding rules: how the dimensions of an op's operands and results map to factors.
//
// As in an einsum, dimensions that must be cut alike share a factor: dot is (b m k),(b k n)->(b m n). A
// dimension may be made of several factors, major first: reshape f32[6,4] -> f32[24] is (i j)->((i j)).
// Propagation and partitioning read nothing but the rule. A factor's kind says what cutting it means for the
// local program:
//
//   kPassThrough       every tensor that has the factor is cut alike; the local program is the op itself
//   kReduction         the op reduces over it: the local result is partial over its axes (a convolution's
//                      window too, whose local program fetches the image rows that a part of it meets)
//   kPermuting         the family's own local program fetches rows of other tiles (slice, pad, windows)
//   kExchanged         the family's own local program exchanges whole tiles. No sharding flows along the
//                      factor, as cutting another dimension may cost less
//   kIndexed           indices address it (gather, scatter, dynamic slices): the family's own local program
//                      masks the elements of other shards
//   kNeedsReplication  never cut where the op runs, but sharding flows along it
//   kBlocked           never cut where the op runs, and no sharding flows along it
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "hlo/devices/mesh.h"
#include "hlo/ir/instruction.h"

namespace toroid {

enum class FactorKind : uint8_t {
  kPassThrough,
  kReduction,
  kPermuting,
  kExchanged,
  kIndexed,
  kNeedsReplication,
  kBlocked
};

struct Factor {
  int64_t size = 1;
  FactorKind kind = FactorKind::kPassThrough;
  // True if some dimension is made of this factor and others: the factor can only be cut evenly.
  bool composite = false;
  // True for a composite factor that leads its dimensions: the local program can cut it unevenly, by moving
  // rows.
  // Shardings flow along it only where they cut it evenly.
  bool by_halo = false;
  // No sharding flows along it, though it can be cut.
  bool holds_back = false;
};

// The factors of one dimension, major first. None: the dimension is never cut where the op runs.
struct DimFactors {
  static constexpr int kMax = 15;
  uint8_t size = 0;
  uint8_t factor[kMax] = {};

  DimFactors() = default;
  DimFactors(int f) : size(1) { factor[0] = static_cast<uint8_t>(f); }
  void push_back(int f) { factor[size++] = static_cast<uint8_t>(f); }
};

using TensorFactors = absl::InlinedVector<DimFactors, 4>;

// Operands in which an op is linear: op(a + b) = op(a) + op(b) when the operands in `together` are all
// partial and the others are full. Arithmetic commutes with partial sums only; `any_reducer` marks pure data
// movement, which commutes with every reducer.
struct Linearity {
  uint32_t together = 0;  // Bit i: operand i.
  bool any_reducer = false;
};

struct ShardingRule {
  absl::InlinedVector<Factor, 6> factors;
  absl::InlinedVector<TensorFactors, 3> operands;
  // One entry for an array; one per leaf for a tuple.
  absl::InlinedVector<TensorFactors, 1> results;
  absl::InlinedVector<Linearity, 1> linear;
  // Combines the local results along a cut reduction factor.
  Reducer reducer = Reducer::kAdd;
  // True if a cut reduction factor leaves the local result partial; false if the local program combines the
  // partial results itself.
  bool leaves_partial = true;
  // True if a cut indexed factor leaves the local result partial: every device contributes the elements that
  // it holds.
  bool indexed_is_partial = false;
  // True if the local program of a cut factor sends about as many bytes as gathering the operands: the
  // assignment that sends fewer wins, even if it replicates operands.
  bool weighs_gathering = false;
  // Flops per point of the iteration space that the factors span: 2 for contractions. 0: so few that
  // repeating them on several devices does not matter.
  double flops_per_point = 0;

  // Declares that the op only moves data of the operands in `together`: partial values of every reducer pass.
  void AddMoved(uint32_t together) { linear.push_back({together, /*any_reducer=*/true}); }
  int AddFactor(int64_t size, FactorKind kind = FactorKind::kPassThrough) {
    factors.push_back({size, kind});
    return static_cast<int>(factors.size()) - 1;
  }
  // Sets `composite` of all factors, from the complete lists of operands and results.
  void MarkComposites();
  // The longest prefix of `axes` over which the factor may be cut: `axes` itself, or for a composite factor
  // the axes whose tile counts divide its size.
  AxisList Admissible(const Mesh& mesh, int factor, const AxisList& axes) const;
};

// Calls `visit` with each dimension that is made of several factors, of operands first.
void ForEachSplitDim(const ShardingRule& rule, absl::FunctionRef<void(const DimFactors& dim)> visit);

// One factor per dimension of `dims`, shared by `operands` operands and one result.
ShardingRule PointwiseRule(absl::Span<const int64_t> dims, int operands);

// PointwiseRule of an op that only moves the elements of its one operand: partial values of every reducer
// pass.
ShardingRule MovedRule(absl::Span<const int64_t> dims);

// One factor per dimension of operand 0, shared by all operands and results: the first `batch` pass through,
// the others are blocked.
ShardingRule BatchRule(const Instruction& op, int batch);

// No factors: every dimension stays uncut, and the op runs on replicated arrays.
ShardingRule OpaqueRule(const Instruction& op);

// Appends the leaves of a shape: itself, or those of a tuple's elements in order.
void AppendLeaves(const Shape& shape, std::vector<const Shape*>* leaves);

// Axes over which the local result is partial.
AxisSet PartialAxes(const ShardingRule& rule, absl::Span<const AxisList> factor_axes);

// The axes that cut factor number `index` of a dimension made of the factors `dim`, if `axes` cut the
// dimension. They reach a factor only if the factors before it are cut to single elements; empty otherwise.
AxisList FactorAxes(const Mesh& mesh, const ShardingRule& rule, const DimFactors& dim, int index,
                    const AxisList& axes);

// The shortest prefix of `axes` that cuts the factor to tiles of at most one row, or all axes. The last tiles
// may be empty.
AxisList UnevenAxes(const Mesh& mesh, const ShardingRule& rule, int factor, const AxisList& axes);

// True if shardings of the tensors can express `factor_axes`: in a dimension of several factors a factor can
// be cut only if all factors before it are cut to single elements.
bool IsExpressible(const Mesh& mesh, const ShardingRule& rule, absl::Span<const AxisList> factor_axes);

// The axes of a dimension whose factors are cut over `factor_axes`: the axes of the leading factors that are
// cut to single elements, then those of the next factor.
AxisList DimAxes(const Mesh& mesh, const ShardingRule& rule, const DimFactors& dim,
                 absl::Span<const AxisList> factor_axes);

// The sharding of a tensor of factors `tensor` under an assignment, without partial axes.
Sharding ShardingUnder(const Mesh& mesh, const ShardingRule& rule, const TensorFactors& tensor,
                       absl::Span<const AxisList> factor_axes);

// The axes that cut some factor.
inline AxisSet UsedAxes(absl::Span<const AxisList> factor_axes) {
  AxisSet used = 0;
  for (const AxisList& axes : factor_axes) used |= axes.Set();
  return used;
}

// The op's flops per device: rule.flops_per_point for each point of its local iteration space.
double LocalFlops(const Mesh& mesh, const ShardingRule& rule, absl::Span<const AxisList> factor_axes);

}  // namespace toroid
