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

enum class Combine { kNothing, kOne, kEach };

template <typename T, Combine kCombine>
void TurnByOne(const T* a, T left, T right, const T* d, T* out, int64_t n) {
  constexpr T kBits = 8 * sizeof(T);
  const T keeps_left = static_cast<T>(left < kBits ? ~T{0} : T{0}), by_left = left % kBits;
  const T keeps_right = static_cast<T>(right < kBits ? ~T{0} : T{0}), by_right = right % kBits;
  const T one = kCombine == Combine::kOne ? *d : T{0};
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T turned = ((a[i] << by_left) & keeps_left) | ((a[i] >> by_right) & keeps_right);
    out[i] = kCombine == Combine::kEach ? turned ^ d[i] : turned ^ one;
  }
}

template <typename T>
void Turn(Elements<void> a, Elements<void> left, Elements<void> right, Elements<void> d, void* out,
          int64_t n) {
  const T* x = static_cast<const T*>(a.data);
  const T* y = static_cast<const T*>(d.data);
  const T* l = static_cast<const T*>(left.data);
  const T* r = static_cast<const T*>(right.data);
  T* z = static_cast<T*>(out);
  if (a.stride == 1 && left.stride == 0 && right.stride == 0) {
    if (y == nullptr) return TurnByOne<T, Combine::kNothing>(x, *l, *r, y, z, n);
    return d.stride == 0 ? TurnByOne<T, Combine::kOne>(x, *l, *r, y, z, n)
                         : TurnByOne<T, Combine::kEach>(x, *l, *r, y, z, n);
  }
  for (int64_t i = 0; i < n; ++i) {
    const T value = x[i * a.stride];
    const T turned = IntOps<T>::ShiftLeft(value, l[i * left.stride]) |
                     IntOps<T>::ShiftRightLogical(value, r[i * right.stride]);
    z[i] = y == nullptr ? turned : turned ^ y[i * d.stride];
  }
}

}  // namespace

TurnLoop FindTurnLoop(int64_t width) {
  return width == 4 ? Turn<uint32_t> : width == 8 ? Turn<uint64_t> : nullptr;
}

const PairLoop* FindPairLoops(PairOp first, PairOp second) {
  static constexpr auto kLoops = AllLoops(std::make_index_sequence<4 * kPairOps * kPairOps>());
  return &kLoops[4 * (static_cast<size_t>(first) * kPairOps + static_cast<size_t>(second))];
}

}  // namespace toroid::TOROID_LEVEL
