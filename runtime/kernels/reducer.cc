#include "runtime/kernels/reducer.h"

#include <cstring>
#include <limits>

#include "hlo/base/status.h"
#include "runtime/kernels/convert_value.h"
#include "runtime/mesh_rows.h"
#include "runtime/run_plan.h"

namespace toroid {
namespace {

template <typename T>
bool Neutral(Opcode opcode, T* value) {
  if constexpr (kIsPred<T>) {
    switch (opcode) {
      case Opcode::kAdd:
      case Opcode::kMaximum:
      case Opcode::kOr:
      case Opcode::kXor:
        *value = false;
        return true;
      case Opcode::kMultiply:
      case Opcode::kMinimum:
      case Opcode::kAnd:
        *value = true;
        return true;
      default:
        return false;
    }
  } else if constexpr (kIsInt<T>) {
    using Ops = IntOps<T>;
    using Wide = typename Ops::Wide;
    const Wide top = Ops::kSigned ? Ops::kMask >> 1 : Ops::kMask;
    switch (opcode) {
      case Opcode::kAdd:
      case Opcode::kOr:
      case Opcode::kXor:
        *value = Ops::FromBits(0);
        return true;
      case Opcode::kMultiply:
        *value = Ops::FromBits(1);
        return true;
      case Opcode::kAnd:
        *value = Ops::FromBits(Ops::kMask);
        return true;
      case Opcode::kMinimum:
        *value = Ops::FromBits(top);
        return true;
      case Opcode::kMaximum:
        *value = Ops::FromBits(Ops::kSigned ? Ops::kSignBit : 0);
        return true;
      default:
        return false;
    }
  } else {
    switch (opcode) {
      case Opcode::kAdd:
        *value = T(0.0f);
        return true;
      case Opcode::kMultiply:
        *value = T(1.0f);
        return true;
      default:
        break;
    }
    if constexpr (!IsComplexType<T>::value) {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      if constexpr (IsSmallFloat<T>::value) {
        if (opcode == Opcode::kMaximum) *value = T::kHasInfinity ? T(-kInfinity) : T::LowestFinite();
        if (opcode == Opcode::kMinimum) *value = T::kHasInfinity ? T(kInfinity) : T::MaxFinite();
      } else {
        if (opcode == Opcode::kMaximum) *value = T(-kInfinity);
        if (opcode == Opcode::kMinimum) *value = T(kInfinity);
      }
      return opcode == Opcode::kMaximum || opcode == Opcode::kMinimum;
    }
    return false;
  }
}

}  // namespace

bool NeutralElement(Opcode opcode, PrimitiveType type, char* identity) {
  return VisitArrayType(
      type,
      [&](auto tag) { return Neutral(opcode, reinterpret_cast<typename decltype(tag)::type*>(identity)); },
      false);
}

absl::Status CombineSlices(Plan& body, absl::Span<MeshBuffer> a, absl::Span<MeshBuffer> b, int64_t count,
                           const MeshContext& mesh, std::vector<MeshBuffer>* results) {
  std::vector<MeshBuffer> arguments;
  arguments.reserve(a.size() + b.size());
  for (MeshBuffer& buffer : a) arguments.push_back(std::move(buffer));
  for (MeshBuffer& buffer : b) arguments.push_back(std::move(buffer));
  MeshBuffer result;
  RETURN_IF_ERROR(RunLifted(body, absl::MakeSpan(arguments), count, mesh, &result));
  results->clear();
  if (result.is_tuple()) {
    for (const MeshBuffer& element : result.elements()) results->push_back(element);
    result.Reset();
  } else {
    results->push_back(std::move(result));
  }
  for (MeshBuffer& buffer : *results) RETURN_IF_ERROR(SpreadRows(count, &buffer));
  return absl::OkStatus();
}

}  // namespace toroid
