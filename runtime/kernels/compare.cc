// BUILD: copts = ["-O3"]
#include "runtime/kernels/compare.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/kernels/binary.h"
#include "runtime/loops/total_order.h"

namespace toroid {
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

struct CompareCache : KernelCache {
  explicit CompareCache(const OpCall& call)
      : type(call.operand_shape(0).element_type()), width(ByteWidth(type)) {
    const Direction direction = DirectionOf(call.attrs().comparison_direction());
    const bool total = call.attrs().comparison_type() == "TOTALORDER";
    loop = VisitArrayType(
        type, [&](auto tag) { return Find<typename decltype(tag)::type>(direction, total); },
        BinaryLoop{nullptr});
  }
  PrimitiveType type;
  int64_t width;
  BinaryLoop loop;
};

}  // namespace

absl::Status ExecuteCompare(OpCall& call) {
  const CompareCache& cache = call.Cache<CompareCache>();
  if (cache.loop == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("direction \"", call.attrs().comparison_direction(),
                                                   "\" is not defined on ", TypeName(cache.type)));
  }
  const char* a = call.data(0);
  const char* b = call.data(1);
  const int64_t n = call.result_elements();
  const bool uniform = call.AllUniform();
  RETURN_IF_ERROR(call.NewResult(uniform));
  char* out = call.result().mutable_data();
  if (uniform && n == 1) {
    cache.loop(a, b, out, 1, Repeat::kNone);
  } else {
    ForEachRow({a, call.rows(0), b, call.rows(1), out, n, cache.width, 1}, cache.loop);
  }
  return absl::OkStatus();
}

}  // namespace toroid
