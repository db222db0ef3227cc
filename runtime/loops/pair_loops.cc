// BUILD: per_level
#include "runtime/loops/pair_loops.h"

#include <array>
#include <utility>

#include "runtime/loops/scalar_ops.h"

namespace toroid::TOROID_LEVEL {
namespace {

using Ops = FloatOps<float>;

template <PairOp kOp>
float Apply(float a, float b) {
  if constexpr (kOp == PairOp::kAdd) return Ops::Add(a, b);
  if constexpr (kOp == PairOp::kSubtract) return Ops::Subtract(a, b);
  if constexpr (kOp == PairOp::kFrom) return Ops::Subtract(b, a);
  if constexpr (kOp == PairOp::kMultiply) return Ops::Multiply(a, b);
  if constexpr (kOp == PairOp::kMaximum) return Ops::Maximum(a, b);
  if constexpr (kOp == PairOp::kMinimum) return Ops::Minimum(a, b);
}

template <PairOp kFirst, PairOp kSecond, bool kOneB, bool kOneC>
void Loop(const float* a, const float* b, const float* c, float* out, int64_t n) {
  const float one_b = *b, one_c = *c;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = Apply<kSecond>(Apply<kFirst>(a[i], kOneB ? one_b : b[i]), kOneC ? one_c : c[i]);
  }
}

// By (first, second, b is one, c is one).
template <size_t... kIndex>
constexpr std::array<PairLoop, sizeof...(kIndex)> AllLoops(std::index_sequence<kIndex...>) {
  return {Loop<static_cast<PairOp>(kIndex / 4 / kPairOps), static_cast<PairOp>(kIndex / 4 % kPairOps),
               (kIndex & 2) != 0, (kIndex & 1) != 0>...};
}

}  // namespace

PairLoop FindPairLoop(PairOp first, PairOp second, bool one_b, bool one_c) {
  static constexpr auto kLoops = AllLoops(std::make_index_sequence<4 * kPairOps * kPairOps>());
  const size_t pair = static_cast<size_t>(first) * kPairOps + static_cast<size_t>(second);
  return kLoops[4 * pair + 2 * one_b + one_c];
}

}  // namespace toroid::TOROID_LEVEL
