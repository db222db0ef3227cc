// Sharding rules: how the dimensions of an op's operands and results map to factors.
//
// As in an einsum, dimensions that must be cut alike share a factor: dot is (b m k),(b k n)->(b m n). A
// dimension may be made of several factors, major first: reshape f32[6,4] -> f32[24] is (i j)->((i j)).
// Propagation and partitioning read nothing but the rule; a factor's kind says what cutting it means for the
// local program:
//
//   kPassThrough       every tensor that has the factor is cut alike; the local program is the op itself
//   kReduction         the op reduces over it: the local result is partial over its axes (a convolution's window too, whose
//                      local program fetches what its part meets)
//   kPermuting         cutting it moves data between neighbours (slice, pad, reverse, windows): the family's own local
//                      program fetches it
//   kExchanged         as kPermuting, whole tiles, so that no sharding flows along it: another dimension may take the cut for less
//   kIndexed           indices address it (gather, scatter, dynamic slices): the family's own local program masks
//   kNeedsReplication  never cut where the op runs, but sharding flows along it
//   kBlocked           never cut where the op runs, and no sharding flows along it
#ifndef TOROID_PARTITIONER_OPS_SHARDING_RULE_H_
#define TOROID_PARTITIONER_OPS_SHARDING_RULE_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "hlo/ir/instruction.h"
#include "hlo/ir/mesh.h"

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
  // Part of a dimension made of several factors: it can only be cut evenly.
  bool composite = false;
  // Such a part, but the leading one of its dimensions: the local program can cut it unevenly, by moving rows. Shardings
  // flow along it where it is cut evenly alone.
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
// partial and the others are full. Only additive partials pass through arithmetic; `any_reducer` marks pure
// data movement, through which partials of every reducer pass.
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
  // How the parts of a reduction factor combine.
  Reducer reducer = Reducer::kAdd;
  // A cut reduction factor leaves the local result partial; false: the local program combines the parts itself.
  bool leaves_partial = true;
  // So does a cut indexed factor: every device gives the elements that it holds.
  bool indexed_is_partial = false;
  // The local program of a cut factor exchanges about as much as gathering the operands would send: what sends less wins, even if
  // operands become whole.
  bool weighs_gathering = false;
  // Flops for each combination of positions of its factors: 2 for contractions. 0: too few for repeating them on
  // several devices to matter.
  double flops_per_point = 0;

  // Data movement of the operands in `together`: partial values of every reducer pass.
  void AddMoved(uint32_t together) { linear.push_back({together, /*any_reducer=*/true}); }
  int AddFactor(int64_t size, FactorKind kind = FactorKind::kPassThrough) {
    factors.push_back({size, kind});
    return static_cast<int>(factors.size()) - 1;
  }
  // Sets `composite`; to be called once all dimensions are there.
  void MarkComposites();
  // The longest prefix of `axes` over which the factor may be cut: all of it, or what divides a composite
  // factor.
  AxisList Admissible(const Mesh& mesh, int factor, const AxisList& axes) const;
};

// One factor per dimension of `dims`, shared by `operands` operands and one result.
ShardingRule PointwiseRule(absl::Span<const int64_t> dims, int operands);

// PointwiseRule of an op that hands its one operand on: partial values of every reducer pass.
ShardingRule MovedRule(absl::Span<const int64_t> dims);

// One factor per dimension of operand 0, shared by all operands and results: a batch of `batch` dimensions, the others
// blocked.
ShardingRule BatchRule(const Instruction& instruction, int batch);

// Every dimension uncut: the op runs on replicated arrays.
ShardingRule OpaqueRule(const Instruction& instruction);

// Axes over which the local result is partial.
AxisSet PartialAxes(const ShardingRule& rule, absl::Span<const AxisList> factor_axes);

// Axes of factor `index` within a dimension of factors `dim` that is cut over `axes`; sizes of the major
// factors must be used up exactly. Empty if none reach it.
AxisList FactorAxes(const Mesh& mesh, const ShardingRule& rule, const DimFactors& dim, int index,
                    const AxisList& axes);

// The prefix of `axes` after which no tile has more than one row of the factor: the last tiles may have none.
AxisList UnevenAxes(const Mesh& mesh, const ShardingRule& rule, int factor, const AxisList& axes);

// True if every tensor can be cut so: in a dimension of several factors a minor one can be cut only if those before it are cut to single
// elements.
bool IsExpressible(const Mesh& mesh, const ShardingRule& rule, absl::Span<const AxisList> factor_axes);

// The axes of a dimension whose factors are cut over `factor_axes`: those of the leading factors that are cut
// wholly, then those of the first that is not.
AxisList DimAxes(const Mesh& mesh, const ShardingRule& rule, const DimFactors& dim,
                 absl::Span<const AxisList> factor_axes);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_SHARDING_RULE_H_
