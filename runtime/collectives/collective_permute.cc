#include "runtime/collectives/collective_permute.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/collectives/group_rows.h"
#include "runtime/kernels/index_values.h"
#include "runtime/kernels/strided_copy.h"
#include "runtime/mesh_rows.h"

namespace toroid {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

absl::Status Move(OpCall& call, int i, const Pairs& pairs, MeshBuffer* result) {
  const int64_t bytes = call.operand_shape(i).ByteSize();
  if (call.uniform(i) && static_cast<int64_t>(pairs.size()) == call.copies()) {
    *result = call.operand(i);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(call.New(bytes, /*uniform=*/false, result));
  char* out = result->mutable_data();
  std::vector<bool> received(call.copies(), false);
  for (const auto& [source, target] : pairs) {
    std::memcpy(out + target * bytes, call.data(i) + (call.uniform(i) ? 0 : source * bytes), bytes);
    received[target] = true;
  }
  for (int64_t row = 0; row < call.copies(); ++row) {
    if (!received[row]) std::memset(out + row * bytes, 0, bytes);
  }
  return absl::OkStatus();
}

// Byte offset of the block that a tuple of scalar starts names on one row; starts are clamped as in
// dynamic-slice.
absl::StatusOr<int64_t> BlockOffset(const OpCall& call, int operand, const Shape& shape,
                                    absl::Span<const int64_t> sizes, int64_t row) {
  const Shape& starts = call.operand_shape(operand);
  if (static_cast<int>(starts.tuple_shapes().size()) != shape.rank()) {
    return absl::UnimplementedError(
        "a sliced permute takes one block: starts are a tuple of one scalar per dimension");
  }
  const Dims strides = RowMajorStrides(shape.dims(), ByteWidth(shape.element_type()));
  int64_t offset = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!starts.tuple_shape(d).IsScalar())
      return absl::UnimplementedError("a sliced permute takes one block");
    const MeshBuffer& value = call.operand(operand).element(d);
    const int64_t start =
        IndexValue(starts.tuple_shape(d).element_type(), value.data(), value.uniform() ? 0 : row);
    offset += std::clamp<int64_t>(start, 0, std::max<int64_t>(0, shape.dim(d) - sizes[d])) * strides[d];
  }
  return offset;
}

absl::Status MoveBlocks(OpCall& call, const Pairs& pairs, MeshBuffer* result) {
  const Shape& input = call.operand_shape(0);
  const Shape& output = call.operand_shape(1);
  const Dims sizes = ToDims(call.attrs().dynamic_slice_sizes());
  if (!input.IsArray() || !output.IsArray() || static_cast<int>(sizes.size()) != output.rank() ||
      input.rank() != output.rank()) {
    return absl::UnimplementedError("a sliced permute of several blocks");
  }
  const int64_t width = ByteWidth(input.element_type());
  MeshBuffer out = call.operand(1);
  RETURN_IF_ERROR(SpreadRows(call.copies(), &out));
  if (!out.unique()) {
    MeshBuffer copy;
    RETURN_IF_ERROR(call.New(output.ByteSize(), /*uniform=*/false, &copy));
    std::memcpy(copy.mutable_data(), out.data(), out.bytes());
    out = std::move(copy);
  }
  const Dims from = RowMajorStrides(input.dims(), width), to = RowMajorStrides(output.dims(), width);
  StridedLoop loop;
  loop.width = width;
  for (int d = 0; d < output.rank(); ++d) {
    if (sizes[d] < 0 || sizes[d] > input.dim(d) || sizes[d] > output.dim(d)) {
      return absl::InvalidArgumentError(absl::StrCat("a block of ", sizes[d], " in dimension ", d));
    }
    loop.Add(sizes[d], from[d], to[d]);
  }
  loop.Optimize();
  for (const auto& [source, target] : pairs) {
    ASSIGN_OR_RETURN(const int64_t source_offset, BlockOffset(call, 2, input, sizes, source));
    ASSIGN_OR_RETURN(const int64_t target_offset, BlockOffset(call, 3, output, sizes, target));
    StridedCopy(loop, call.data(0) + (call.uniform(0) ? 0 : source * input.ByteSize()) + source_offset,
                out.mutable_data() + target * output.ByteSize() + target_offset);
  }
  *result = std::move(out);
  return absl::OkStatus();
}

absl::Status MoveAll(OpCall& call, std::vector<MeshBuffer>* results) {
  Pairs pairs;
  RETURN_IF_ERROR(FindPairRows(call, &pairs));
  if (call.attrs().dynamic_slice_sizes_size() > 0 && call.num_operands() == 4) {
    results->resize(1);
    return MoveBlocks(call, pairs, &(*results)[0]);
  }
  results->resize(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) RETURN_IF_ERROR(Move(call, i, pairs, &(*results)[i]));
  return absl::OkStatus();
}

MeshBuffer MakeTuple(std::vector<MeshBuffer> elements) {
  MeshBuffer tuple = MeshBuffer::Tuple(static_cast<int>(elements.size()));
  for (size_t i = 0; i < elements.size(); ++i) tuple.mutable_element(i) = std::move(elements[i]);
  return tuple;
}

}  // namespace

absl::Status ExecuteCollectivePermute(OpCall& call) {
  std::vector<MeshBuffer> results;
  RETURN_IF_ERROR(MoveAll(call, &results));
  SetResults(call, std::move(results));
  return absl::OkStatus();
}

absl::Status ExecuteCollectivePermuteStart(OpCall& call) {
  const auto shapes = call.shape().tuple_shapes();
  if (shapes.size() < 2) return absl::InvalidArgumentError("the result is no (operand, result, ...) tuple");
  std::vector<MeshBuffer> results, operands;
  RETURN_IF_ERROR(MoveAll(call, &results));
  for (int i = 0; i < call.num_operands(); ++i) operands.push_back(call.operand(i));
  std::vector<MeshBuffer> state(shapes.size());
  state[0] = shapes[0].IsTuple() ? MakeTuple(std::move(operands)) : std::move(operands[0]);
  state[1] = shapes[1].IsTuple() ? MakeTuple(std::move(results)) : std::move(results[0]);
  for (size_t i = 2; i < shapes.size(); ++i) {
    state[i] = MeshBuffer::Array(shapes[i].ByteSize(), /*uniform=*/true);
    std::memset(state[i].mutable_data(), 0, state[i].bytes());
  }
  call.result() = MakeTuple(std::move(state));
  return absl::OkStatus();
}

absl::Status ExecuteCollectivePermuteDone(OpCall& call) {
  call.result() = call.operand(0).element(1);
  return absl::OkStatus();
}

absl::Status ExecuteCollectiveBroadcast(OpCall& call) {
  const GroupRows* rows;
  RETURN_IF_ERROR(FindGroupRows(call, /*all_take_part=*/false, &rows));
  Pairs pairs;
  for (const std::vector<int64_t>& group : rows->groups) {
    for (const int64_t row : group) pairs.emplace_back(group[0], row);
  }
  std::vector<MeshBuffer> results(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) RETURN_IF_ERROR(Move(call, i, pairs, &results[i]));
  SetResults(call, std::move(results));
  return absl::OkStatus();
}

}  // namespace toroid
