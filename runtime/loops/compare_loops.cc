// BUILD: per_level
#include "runtime/loops/compare_loops.h"

#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"
#include "runtime/loops/total_order.h"

namespace toroid::TOROID_LEVEL {
namespace {

enum class Direction { kEq, kNe, kGe, kGt, kLe, kLt, kInvalid };

Direction DirectionOf(absl::string_view name) {
  if (name == "EQ") return Direction::kEq;
  if (name == "NE") return Direction::kNe;
  if (name == "GE") return Direction::kGe;
  if (name == "GT") return Direction::kGt;
  if (name == "LE") return Direction::kLe;
  if (name == "LT") return Direction::kLt;
  return Direction::kInvalid;
}

// The value that is compared: arithmetic types as they are, narrow floats as float, sub-byte integers as
// bytes.
template <typename T>
auto Comparable(T x) {
  if constexpr (std::is_arithmetic_v<T> || IsComplexType<T>::value) {
    return x;
  } else if constexpr (IsSmallInt<T>::value) {
    return static_cast<typename IntBits<T>::Storage>(x);
  } else {
    return static_cast<float>(x);
  }
}

template <typename T, Direction kDirection>
bool Ordered(T a, T b) {
  const auto x = Comparable(a), y = Comparable(b);
  if constexpr (kDirection == Direction::kEq) return x == y;
  if constexpr (kDirection == Direction::kNe) return x != y;
  if constexpr (!IsComplexType<T>::value) {
    if constexpr (kDirection == Direction::kGe) return x >= y;
    if constexpr (kDirection == Direction::kGt) return x > y;
    if constexpr (kDirection == Direction::kLe) return x <= y;
    if constexpr (kDirection == Direction::kLt) return x < y;
  }
  return false;
}

template <typename T, Direction kDirection>
bool TotallyOrdered(T a, T b) {
  return Ordered<TotalOrderKey<T>, kDirection>(ToTotalOrder(a), ToTotalOrder(b));
}

template <typename T, Direction kDirection>
BinaryLoop LoopOf(bool total) {
  if constexpr (kIsReal<T> && !IsComplexType<T>::value) {
    if (total) return LoopOfTwo<T, bool, TotallyOrdered<T, kDirection>>;
  }
  return LoopOfTwo<T, bool, Ordered<T, kDirection>>;
}

template <typename T>
BinaryLoop Find(Direction direction, bool total) {
  switch (direction) {
    case Direction::kEq:
      return LoopOf<T, Direction::kEq>(total);
    case Direction::kNe:
      return LoopOf<T, Direction::kNe>(total);
    case Direction::kInvalid:
      return nullptr;
    default:
      break;
  }
  if constexpr (!IsComplexType<T>::value) {
    switch (direction) {
      case Direction::kGe:
        return LoopOf<T, Direction::kGe>(total);
      case Direction::kGt:
        return LoopOf<T, Direction::kGt>(total);
      case Direction::kLe:
        return LoopOf<T, Direction::kLe>(total);
      case Direction::kLt:
        return LoopOf<T, Direction::kLt>(total);
      default:
        break;
    }
  }
  return nullptr;
}

}  // namespace

BinaryLoop FindCompareLoop(absl::string_view direction, bool total, PrimitiveType type) {
  const Direction wanted = DirectionOf(direction);
  return VisitArrayType(
      type, [&](auto tag) { return Find<typename decltype(tag)::type>(wanted, total); }, BinaryLoop{nullptr});
}

}  // namespace toroid::TOROID_LEVEL
