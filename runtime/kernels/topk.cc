#include "runtime/kernels/topk.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/loops/total_order.h"

namespace toroid {
namespace {

template <typename T>
auto OrderKey(T value) {
  if constexpr (kIsPred<T>) {
    return static_cast<int>(value);
  } else if constexpr (kIsInt<T>) {
    return static_cast<typename IntBits<T>::Storage>(value);
  } else {
    return ToTotalOrder(value);
  }
}

template <typename T>
void FirstOfLine(const T* line, int64_t n, int64_t k, bool largest, std::vector<int32_t>& order, T* values,
                 int32_t* positions) {
  order.resize(n);
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](int32_t a, int32_t b) {
    const auto x = OrderKey(line[a]), y = OrderKey(line[b]);
    if (x != y) return largest ? x > y : x < y;
    return a < b;
  };
  if (k < n) std::nth_element(order.begin(), order.begin() + k, order.end(), before);
  std::sort(order.begin(), order.begin() + k, before);
  for (int64_t i = 0; i < k; ++i) {
    positions[i] = order[i];
    values[i] = line[order[i]];
  }
}

}  // namespace

absl::Status ExecuteTopK(OpCall& call) {
  const Shape& shape = call.operand_shape(0);
  if (call.num_operands() != 1 || shape.rank() < 1 || call.shape().tuple_shapes().size() != 2 ||
      call.shape().tuple_shape(1).element_type() != xla::S32) {
    return absl::UnimplementedError("topk takes one array and gives values and s32 positions");
  }
  const int64_t n = shape.dim(shape.rank() - 1);
  const Shape& result = call.shape().tuple_shape(0);
  const int64_t k = result.dim(result.rank() - 1);
  if (k > n || n > INT32_MAX)
    return absl::InvalidArgumentError(absl::StrCat("the first ", k, " of ", n, " elements"));
  const bool largest = call.opcode() == Opcode::kCustomCall || call.attrs().largest();
  const bool uniform = call.uniform(0);
  MeshBuffer values, positions;
  RETURN_IF_ERROR(call.New(result.ByteSize(), uniform, &values));
  RETURN_IF_ERROR(call.New(result.NumElements() * sizeof(int32_t), uniform, &positions));
  const int64_t lines = n == 0 ? 0 : call.rows(0) * (shape.NumElements() / n);
  const bool ordered = VisitArrayType(
      shape.element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (IsComplexType<T>::value) {
          return false;
        } else {
          const T* in = reinterpret_cast<const T*>(call.data(0));
          T* out = reinterpret_cast<T*>(values.mutable_data());
          int32_t* at = reinterpret_cast<int32_t*>(positions.mutable_data());
          ParallelFor(lines, std::max<int64_t>(1, 4096 / std::max<int64_t>(n, 1)),
                      [&](int64_t begin, int64_t end) {
                        std::vector<int32_t> order;
                        for (int64_t line = begin; line < end; ++line) {
                          FirstOfLine(in + line * n, n, k, largest, order, out + line * k, at + line * k);
                        }
                      });
          return true;
        }
      },
      false);
  if (!ordered) return absl::UnimplementedError(absl::StrCat("topk of ", TypeName(shape.element_type())));
  MeshBuffer tuple = MeshBuffer::Tuple(2);
  tuple.mutable_element(0) = std::move(values);
  tuple.mutable_element(1) = std::move(positions);
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

}  // namespace toroid
