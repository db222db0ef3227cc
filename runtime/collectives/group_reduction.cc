#include "runtime/collectives/group_reduction.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "hlo/base/status.h"
#include "runtime/kernels/binary.h"
#include "runtime/kernels/block_convert.h"
#include "runtime/kernels/reducer.h"
#include "runtime/scalar_body.h"
#include "runtime/thread_pool.h"

namespace toroid {
namespace {

constexpr int64_t kGrain = 4 << 10;

struct Rows {
  const char* data;
  int64_t stride;  // Bytes; 0 for a uniform operand.
  const char* row(int64_t i) const { return data + i * stride; }
};

// Elements [begin, end) of the total of one group.
void FoldPart(PrimitiveType type, BinaryLoop loop, const Rows& rows, const std::vector<int64_t>& group,
              int64_t begin, int64_t end, char* total) {
  const int64_t width = ByteWidth(type);
  if (!IsNarrowFloat(type)) {
    const int64_t offset = begin * width;
    std::memcpy(total + offset, rows.row(group[0]) + offset, (end - begin) * width);
    for (size_t i = 1; i < group.size(); ++i) {
      loop(total + offset, rows.row(group[i]) + offset, total + offset, end - begin, Repeat::kNone);
    }
    return;
  }
  float sum[kConvertBlock], next[kConvertBlock];
  for (int64_t at = begin; at < end; at += kConvertBlock) {
    const int64_t count = std::min(kConvertBlock, end - at);
    NarrowToFloat(type, rows.row(group[0]) + at * width, sum, count);
    for (size_t i = 1; i < group.size(); ++i) {
      NarrowToFloat(type, rows.row(group[i]) + at * width, next, count);
      loop(sum, next, sum, count, Repeat::kNone);
    }
    FloatToNarrow(type, sum, total + at * width, count);
  }
}

absl::Status FoldByBody(OpCall& call, const Rows& rows, const std::vector<int64_t>& group, int64_t n,
                        int64_t bytes, MeshBuffer* total) {
  std::vector<MeshBuffer> sum(1), next(1);
  RETURN_IF_ERROR(call.New(bytes, /*uniform=*/true, &sum[0]));
  sum[0].set_uniform(false);
  std::memcpy(sum[0].mutable_data(), rows.row(group[0]), bytes);
  for (size_t i = 1; i < group.size(); ++i) {
    RETURN_IF_ERROR(call.New(bytes, /*uniform=*/true, &next[0]));
    next[0].set_uniform(false);
    std::memcpy(next[0].mutable_data(), rows.row(group[i]), bytes);
    RETURN_IF_ERROR(
        CombineSlices(call.called(0), absl::MakeSpan(sum), absl::MakeSpan(next), n, call.mesh(), &sum));
  }
  *total = std::move(sum[0]);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReduceGroups(OpCall& call, int i, const std::vector<std::vector<int64_t>>& groups,
                          absl::FunctionRef<void(int64_t group, const char* total)> deliver) {
  const Shape& shape = call.operand_shape(i);
  const PrimitiveType type = shape.element_type();
  const int64_t n = shape.NumElements(), bytes = shape.ByteSize();
  const Rows rows{call.data(i), call.uniform(i) ? 0 : bytes};
  const std::optional<SimpleBody> body = ClassifyBody(*call.instruction().called(0));
  BinaryLoop loop = nullptr;
  if (body.has_value() && body->opcode != Opcode::kParameter)
    loop = FindBinaryLoop(body->opcode, ComputeType(type));
  MeshBuffer total;
  if (loop != nullptr) RETURN_IF_ERROR(call.New(bytes, /*uniform=*/true, &total));
  for (size_t g = 0; g < groups.size(); ++g) {
    if (loop != nullptr) {
      char* out = total.mutable_data();
      ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
        FoldPart(type, loop, rows, groups[g], begin, end, out);
      });
    } else if (n > 0) {
      RETURN_IF_ERROR(FoldByBody(call, rows, groups[g], n, bytes, &total));
    }
    deliver(static_cast<int64_t>(g), total.empty() ? nullptr : total.data());
  }
  return absl::OkStatus();
}

}  // namespace toroid
