#include "runtime/collectives/all_gather.h"

#include <cstring>
#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "runtime/collectives/group_rows.h"
#include "runtime/kernels/strided_copy.h"

namespace toroid {
namespace {

// `shape`: the result, of one operand an array or a tuple, of several a tuple.
absl::Status Gather(OpCall& call, const Shape& shape, std::vector<MeshBuffer>* results) {
  const GroupRows* rows;
  RETURN_IF_ERROR(FindGroupRows(call, /*all_take_part=*/true, &rows));
  const int64_t d = call.instruction().dimension(), size = rows->common_size;
  if (size == 0) return absl::InvalidArgumentError("device groups of different sizes");
  results->resize(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) {
    const Shape& result = shape.IsTuple() ? shape.tuple_shape(i) : shape;
    RETURN_IF_ERROR(CheckGroupSize(call.operand_shape(i), result, d, size));
    const PieceLayout layout(call.operand_shape(i), d);
    const int64_t piece = layout.count * layout.inner, row_bytes = layout.outer * piece,
                  bytes = row_bytes * size;
    const bool uniform = rows->one_group || call.uniform(i);
    RETURN_IF_ERROR(call.New(bytes, uniform, &(*results)[i]));
    if (bytes == 0) continue;
    char* out = (*results)[i].mutable_data();
    for (const std::vector<int64_t>& group : rows->groups) {
      char* first = out + (uniform ? 0 : group[0] * bytes);
      for (int64_t member = 0; member < size; ++member) {
        StridedLoop loop;
        loop.width = 1;
        loop.Add(layout.outer, piece, piece * size);
        loop.Add(piece, 1, 1);
        ParallelStridedCopy(std::move(loop), call.data(i) + (call.uniform(i) ? 0 : group[member] * row_bytes),
                            first + member * piece);
      }
      if (uniform) break;
      for (int64_t member = 1; member < size; ++member)
        std::memcpy(out + group[member] * bytes, first, bytes);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteAllGather(OpCall& call) {
  std::vector<MeshBuffer> results;
  RETURN_IF_ERROR(Gather(call, call.shape(), &results));
  SetResults(call, std::move(results));
  return absl::OkStatus();
}

absl::Status ExecuteAllGatherStart(OpCall& call) {
  if (call.shape().tuple_shapes().size() != 2) {
    return absl::InvalidArgumentError("the result is no (operand, result) tuple");
  }
  std::vector<MeshBuffer> results, operands;
  RETURN_IF_ERROR(Gather(call, call.shape().tuple_shape(1), &results));
  for (int i = 0; i < call.num_operands(); ++i) operands.push_back(call.operand(i));
  std::vector<MeshBuffer> state(2);
  const bool nested = call.shape().tuple_shape(1).IsTuple();
  state[0] = nested ? MeshBuffer::Tuple(std::move(operands)) : std::move(operands[0]);
  state[1] = nested ? MeshBuffer::Tuple(std::move(results)) : std::move(results[0]);
  call.result() = MeshBuffer::Tuple(std::move(state));
  return absl::OkStatus();
}

absl::Status ExecuteAllGatherDone(OpCall& call) {
  call.result() = call.operand(0).element(1);
  return absl::OkStatus();
}

}  // namespace toroid
