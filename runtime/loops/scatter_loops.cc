// BUILD: per_level
#include "runtime/loops/scatter_loops.h"

#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"
#include "runtime/loops/scalar_ops.h"

namespace toroid::TOROID_LEVEL {
namespace {

template <typename T, T (*kOp)(T, T)>
void Scatter(const void* data, const int64_t* sources, const int64_t* places, int64_t n, int64_t columns,
             void* result) {
  const T* x = static_cast<const T*>(data);
  T* out = static_cast<T*>(result);
  if (columns == 1) {
    for (int64_t i = 0; i < n; ++i) out[places[i]] = kOp(out[places[i]], x[sources[i]]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const T* from = x + sources[i];
    T* to = out + places[i];
#pragma GCC ivdep
    for (int64_t k = 0; k < columns; ++k) to[k] = kOp(to[k], from[k]);
  }
}

template <typename T>
T Overwrite(T, T update) {
  return update;
}

// An op of float on a narrower type.
template <typename T, float (*kOp)(float, float)>
T Narrow(T a, T b) {
  return static_cast<T>(kOp(static_cast<float>(a), static_cast<float>(b)));
}

template <typename T>
ScatterLoop Find(Opcode opcode) {
  if constexpr (kIsComplex<T>) {
    using Ops = ComplexOps<typename T::value_type>;
    if (opcode == Opcode::kAdd) return Scatter<T, Ops::Add>;
    if (opcode == Opcode::kMultiply) return Scatter<T, Ops::Multiply>;
  } else if constexpr (kIsInt<T> || std::is_floating_point_v<T>) {
    using Ops = std::conditional_t<kIsInt<T>, IntOps<T>, FloatOps<T>>;
    if (opcode == Opcode::kAdd) return Scatter<T, Ops::Add>;
    if (opcode == Opcode::kMultiply) return Scatter<T, Ops::Multiply>;
    if (opcode == Opcode::kMaximum) return Scatter<T, Ops::Maximum>;
    if (opcode == Opcode::kMinimum) return Scatter<T, Ops::Minimum>;
  } else if constexpr (kIsReal<T>) {
    using Ops = FloatOps<float>;
    if (opcode == Opcode::kAdd) return Scatter<T, Narrow<T, Ops::Add>>;
    if (opcode == Opcode::kMultiply) return Scatter<T, Narrow<T, Ops::Multiply>>;
    if (opcode == Opcode::kMaximum) return Scatter<T, Narrow<T, Ops::Maximum>>;
    if (opcode == Opcode::kMinimum) return Scatter<T, Narrow<T, Ops::Minimum>>;
  }
  return opcode == Opcode::kParameter ? Scatter<T, Overwrite<T>> : nullptr;
}

}  // namespace

ScatterLoop FindScatterLoop(Opcode opcode, PrimitiveType type) {
  return VisitArrayType(
      type, [&](auto tag) -> ScatterLoop { return Find<typename decltype(tag)::type>(opcode); },
      ScatterLoop{nullptr});
}

}  // namespace toroid::TOROID_LEVEL
