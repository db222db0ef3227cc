#include "runtime/collectives/all_to_all.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/collectives/group_rows.h"
#include "runtime/kernels/index_values.h"
#include "runtime/kernels/strided_copy.h"
#include "runtime/thread_pool.h"

namespace toroid {
namespace {

absl::Status ArrayForm(OpCall& call, const GroupRows& rows) {
  const int64_t d = call.instruction().dimension(), size = rows.common_size;
  const PieceLayout layout(call.shape(), d);
  if (layout.count % size != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("groups of ", size, " do not divide dimension ", d, " of ", call.shape().ToString()));
  }
  if (size == 1) {
    call.result() = call.TakeOperand(0);
    return absl::OkStatus();
  }
  const char* in = call.data(0);
  const int64_t bytes = call.result_bytes(), in_row = call.uniform(0) ? 0 : bytes;
  RETURN_IF_ERROR(call.NewResult(/*uniform=*/false));
  if (bytes == 0) return absl::OkStatus();
  char* out = call.result().mutable_data();
  const int64_t block = layout.count / size * layout.inner;
  StridedLoop loop;
  loop.width = 1;
  loop.Add(layout.outer, block * size, block * size);
  loop.Add(block, 1, 1);
  loop.Simplify();
  for (const std::vector<int64_t>& group : rows.groups) {
    ParallelFor(size, 1, [&](int64_t begin, int64_t end) {
      for (int64_t to = begin; to < end; ++to) {
        for (int64_t from = 0; from < size; ++from) {
          StridedCopy(loop, in + group[from] * in_row + to * block, out + group[to] * bytes + from * block);
        }
      }
    });
  }
  return absl::OkStatus();
}

absl::Status TupleForm(OpCall& call, const GroupRows& rows) {
  const int64_t size = rows.common_size;
  if (call.num_operands() != size) {
    return absl::InvalidArgumentError(absl::StrCat(call.num_operands(), " operands for groups of ", size));
  }
  const int64_t bytes = call.operand_shape(0).ByteSize();
  std::vector<MeshBuffer> results(size);
  for (int64_t from = 0; from < size; ++from) {
    RETURN_IF_ERROR(call.New(bytes, /*uniform=*/false, &results[from]));
    for (const std::vector<int64_t>& group : rows.groups) {
      for (int64_t to = 0; to < size; ++to) {
        const char* in = call.data(static_cast<int>(to));
        std::memcpy(results[from].mutable_data() + group[to] * bytes,
                    in + (call.uniform(static_cast<int>(to)) ? 0 : group[from] * bytes), bytes);
      }
    }
  }
  SetResults(call, std::move(results));
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteAllToAll(OpCall& call) {
  const GroupRows* rows;
  RETURN_IF_ERROR(FindGroupRows(call, /*all_take_part=*/true, &rows));
  if (rows->common_size == 0) return absl::InvalidArgumentError("device groups of different sizes");
  if (call.shape().IsTuple()) return TupleForm(call, *rows);
  if (call.instruction().dimensions().empty()) {
    if (call.num_operands() == 1 && rows->common_size == 1) return ArrayForm(call, *rows);
    return absl::InvalidArgumentError("an array is split along a dimension");
  }
  return ArrayForm(call, *rows);
}

absl::Status ExecuteRaggedAllToAll(OpCall& call) {
  const GroupRows* rows;
  RETURN_IF_ERROR(FindGroupRows(call, /*all_take_part=*/true, &rows));
  const Shape& input = call.operand_shape(0);
  const Shape& output = call.shape();
  const Shape& index_shape = call.operand_shape(2);
  const int64_t size = rows->common_size, members = index_shape.rank() > 0 ? index_shape.dim(0) : 0;
  if (size == 0 || members != size || input.rank() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("offsets for ", members, " members, groups of ", size));
  }
  const int64_t updates = index_shape.NumElements() / members;
  const int64_t line = input.dim(0) == 0 ? 0 : input.ByteSize() / input.dim(0);
  MeshBuffer result;
  RETURN_IF_ERROR(call.New(call.result_bytes(), /*uniform=*/false, &result));
  for (int64_t row = 0; row < call.copies(); ++row) {
    std::memcpy(result.mutable_data() + row * call.result_bytes(),
                call.data(1) + (call.uniform(1) ? 0 : row * call.result_bytes()), call.result_bytes());
  }
  const auto index = [&](int operand, int64_t row, int64_t at) {
    return IndexValue(call.operand_shape(operand).element_type(), call.data(operand),
                      (call.uniform(operand) ? 0 : row * index_shape.NumElements()) + at);
  };
  for (const std::vector<int64_t>& group : rows->groups) {
    for (const int64_t from : group) {
      for (int64_t j = 0; j < size; ++j) {
        for (int64_t u = 0; u < updates; ++u) {
          const int64_t at = j * updates + u;
          const int64_t source = index(2, from, at), count = index(3, from, at), target = index(4, from, at);
          if (count == 0) continue;
          if (source < 0 || count < 0 || target < 0 || source > input.dim(0) - count ||
              target > output.dim(0) - count) {
            return absl::InvalidArgumentError(
                absl::StrCat("device ", call.mesh().DeviceOfRow(from), " sends rows ", source, " + ", count,
                             " of ", input.dim(0), " to row ", target, " of ", output.dim(0), " on device ",
                             call.mesh().DeviceOfRow(group[j])));
          }
          std::memcpy(result.mutable_data() + group[j] * call.result_bytes() + target * line,
                      call.data(0) + (call.uniform(0) ? 0 : from * input.ByteSize()) + source * line,
                      count * line);
        }
      }
    }
  }
  call.result() = std::move(result);
  return absl::OkStatus();
}

}  // namespace toroid
