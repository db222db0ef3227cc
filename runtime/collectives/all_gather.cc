#include "runtime/collectives/all_gather.h"

#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "runtime/collectives/exchange.h"
#include "runtime/collectives/group_places.h"

namespace toroid {
namespace {

// `shape`: the result. One operand gives an array or a tuple of one; several operands give a tuple.
absl::Status Gather(OpCall& call, const Shape& shape, std::vector<MeshBuffer>* results) {
  const GroupPlaces* places;
  RETURN_IF_ERROR(FindGroups(call, /*all_take_part=*/true, &places));
  const int64_t d = call.instruction().dimension(), size = places->common_size;
  if (size == 0) return absl::InvalidArgumentError("device groups of different sizes");
  results->resize(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) {
    const Shape& result = shape.IsTuple() ? shape.tuple_shape(i) : shape;
    RETURN_IF_ERROR(CheckGroupSize(call.operand_shape(i), result, d, size));
    const PieceLayout layout(call.operand_shape(i), d);
    const int64_t piece = layout.count * layout.inner, row_bytes = layout.outer * piece;
    RETURN_IF_ERROR(call.New(row_bytes * size, places->one_group || call.uniform(i), &(*results)[i]));
    Exchange exchange{places->groups};
    exchange.outer = layout.outer, exchange.run = piece;
    exchange.in_bytes = row_bytes, exchange.in_stride = piece;
    exchange.out_bytes = row_bytes * size, exchange.out_stride = piece * size, exchange.out_step = piece;
    RETURN_IF_ERROR(CarryOut(call, exchange, call.operand(i), &(*results)[i]));
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
