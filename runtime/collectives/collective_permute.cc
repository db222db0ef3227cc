#include "runtime/collectives/collective_permute.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/collectives/exchange.h"
#include "runtime/collectives/group_places.h"
#include "runtime/loops/index_values.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/mesh/mesh_rows.h"

namespace toroid {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

// Moves one piece per pair: `read` and `write` give the start of the loop for a row on this rank. With
// `everywhere` all ranks have the source's values, and nothing is sent.
absl::Status MovePairs(const OpCall& call, const Pairs& pairs, const StridedLoop& loop, bool everywhere,
                       absl::FunctionRef<const char*(int64_t row)> read,
                       absl::FunctionRef<char*(int64_t row)> write) {
  const int64_t first = call.mesh().first_here;
  const Ranks ranks(call.mesh());
  return MovePieces(call, [&](auto visit) {
    for (const auto& [source, target] : pairs) {
      Piece piece{ranks.Of(source), ranks.Of(target), &loop};
      if (everywhere) piece.source = piece.target;
      if (piece.source == ranks.mine()) piece.read = read(source - first);
      if (piece.target == ranks.mine()) piece.write = write(target - first);
      visit(piece);
    }
  });
}

absl::Status Move(OpCall& call, int i, const Pairs& pairs, MeshBuffer* result) {
  const int64_t bytes = call.operand_shape(i).ByteSize();
  const MeshContext& mesh = call.mesh();
  if (call.uniform(i) && static_cast<int64_t>(pairs.size()) == mesh.num_active) {
    *result = call.operand(i);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(call.New(bytes, /*uniform=*/false, result));
  if (bytes == 0) return absl::OkStatus();
  char* out = result->mutable_data();
  std::vector<bool> received(call.copies(), false);
  for (const auto& [source, target] : pairs) {
    if (mesh.IsHere(target)) received[target - mesh.first_here] = true;
  }
  for (int64_t row = 0; row < call.copies(); ++row) {
    if (!received[row]) std::memset(out + row * bytes, 0, bytes);
  }
  const bool uniform = call.uniform(i);
  const char* const in = call.data(i);
  return MovePairs(
      call, pairs, OneRun(bytes), uniform, [&](int64_t row) { return in + (uniform ? 0 : row * bytes); },
      [&](int64_t row) { return out + row * bytes; });
}

// Byte offset of the block whose start one row of the tuple of scalars gives, clamped as in dynamic-slice.
int64_t BlockOffset(const Shape& starts, const MeshBuffer& values, const Shape& shape,
                    absl::Span<const int64_t> sizes, int64_t row) {
  const Dims strides = RowMajorStrides(shape.dims(), ByteWidth(shape.element_type()));
  int64_t offset = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const MeshBuffer& value = values.element(d);
    const int64_t start =
        IndexValue(starts.tuple_shape(d).element_type(), value.data(), value.uniform() ? 0 : row);
    offset += std::clamp<int64_t>(start, 0, std::max<int64_t>(0, shape.dim(d) - sizes[d])) * strides[d];
  }
  return offset;
}

// One side of a sliced permute: the buffers, and the starts of the blocks in them.
struct Side {
  const Shape& shape;
  const MeshBuffer& buffer;
  const Shape& starts;
  const MeshBuffer& start_values;

  // Buffer i of a tuple, with its starts.
  Side Element(int i) const {
    return {shape.tuple_shape(i), buffer.element(i), starts.tuple_shape(i), start_values.element(i)};
  }
  // Block i of one buffer with several blocks.
  Side Block(int i) const { return {shape, buffer, starts.tuple_shape(i), start_values.element(i)}; }

  // Whether the starts are one integer scalar per dimension.
  bool IsOneBlock() const {
    return starts.IsTuple() && static_cast<int>(starts.tuple_shapes().size()) == shape.rank() &&
           std::all_of(starts.tuple_shapes().begin(), starts.tuple_shapes().end(),
                       [](const Shape& start) { return start.IsScalar() && IsInt(start.element_type()); });
  }
};

// The sliced form: blocks of the input on the source replace blocks of the output on the target.
class BlockMover {
 public:
  BlockMover(OpCall& call, const Pairs& pairs)
      : call_(call), pairs_(pairs), sizes_(ToDims(call.attrs().dynamic_slice_sizes())) {}

  absl::Status Run(MeshBuffer* result) {
    const Side input = {call_.operand_shape(0), call_.operand(0), call_.operand_shape(2), call_.operand(2)};
    const Side output = {call_.operand_shape(1), call_.operand(1), call_.operand_shape(3), call_.operand(3)};
    RETURN_IF_ERROR(MoveInto(input, output, result));
    if (next_ == sizes_.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(sizes_.size(), " slice sizes for blocks of ", next_, " dimensions"));
  }

 private:
  // Several buffers: the starts are a tuple with one entry per buffer. One buffer: the starts of one block,
  // or of several.
  absl::Status MoveInto(const Side& input, const Side& output, MeshBuffer* result) {
    const size_t n = input.starts.tuple_shapes().size();
    if (!input.starts.IsTuple() || !output.starts.IsTuple() || output.starts.tuple_shapes().size() != n ||
        input.shape.IsTuple() != output.shape.IsTuple()) {
      return absl::InvalidArgumentError("starts of input and output are tuples of one form");
    }
    if (input.shape.IsTuple()) {
      if (input.shape.tuple_shapes().size() != n || output.shape.tuple_shapes().size() != n) {
        return absl::InvalidArgumentError(
            absl::StrCat("starts for ", n, " buffers, not for ", input.shape.ToString()));
      }
      *result = MeshBuffer::Tuple(static_cast<int>(n));
      for (int i = 0; i < static_cast<int>(n); ++i) {
        RETURN_IF_ERROR(MoveInto(input.Element(i), output.Element(i), &result->mutable_element(i)));
      }
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(CopyOutput(output, result));
    if (n > 0 && !input.starts.tuple_shape(0).IsTuple()) return MoveBlock(input, output, result);
    for (int i = 0; i < static_cast<int>(n); ++i) {
      RETURN_IF_ERROR(MoveBlock(input.Block(i), output.Block(i), result));
    }
    return absl::OkStatus();
  }

  // A copy of the output operand with a row per device.
  absl::Status CopyOutput(const Side& output, MeshBuffer* result) {
    const int64_t bytes = output.shape.ByteSize();
    const MeshBuffer& to = output.buffer;
    RETURN_IF_ERROR(call_.New(bytes, /*uniform=*/false, result));
    for (int64_t row = 0; row < call_.copies(); ++row) {
      std::memcpy(result->mutable_data() + row * bytes, to.data() + (to.uniform() ? 0 : row * bytes), bytes);
    }
    return absl::OkStatus();
  }

  absl::Status MoveBlock(const Side& from, const Side& to, MeshBuffer* result) {
    const Shape &input = from.shape, &output = to.shape;
    const int rank = output.rank();
    if (input.rank() != rank || input.element_type() != output.element_type() || !from.IsOneBlock() ||
        !to.IsOneBlock() || next_ + rank > sizes_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a block of ", input.ToString(), " for ", output.ToString(), " from ", from.starts.ToString(),
          " to ", to.starts.ToString(), "; give one start and one size per dimension"));
    }
    const auto sizes = absl::MakeConstSpan(sizes_).subspan(next_, rank);
    next_ += rank;
    const int64_t width = ByteWidth(input.element_type());
    const Dims source_strides = RowMajorStrides(input.dims(), width),
               strides = RowMajorStrides(output.dims(), width);
    StridedLoop loop;
    loop.width = width;
    for (int d = 0; d < rank; ++d) {
      if (sizes[d] < 0 || sizes[d] > input.dim(d) || sizes[d] > output.dim(d)) {
        return absl::InvalidArgumentError(absl::StrCat("a block of ", sizes[d], " in dimension ", d));
      }
      if (sizes[d] == 0) return absl::OkStatus();
      loop.Add(sizes[d], source_strides[d], strides[d]);
    }
    loop.Optimize();
    return MovePairs(
        call_, pairs_, loop, /*everywhere=*/false,
        [&](int64_t row) {
          return from.buffer.data() + (from.buffer.uniform() ? 0 : row * input.ByteSize()) +
                 BlockOffset(from.starts, from.start_values, input, sizes, row);
        },
        [&](int64_t row) {
          return result->mutable_data() + row * output.ByteSize() +
                 BlockOffset(to.starts, to.start_values, output, sizes, row);
        });
  }

  OpCall& call_;
  const Pairs& pairs_;
  const Dims sizes_;
  size_t next_ = 0;  // The first size that no block has used.
};

absl::Status MoveAll(OpCall& call, std::vector<MeshBuffer>* results) {
  Pairs pairs;
  RETURN_IF_ERROR(FindPairs(call, &pairs));
  if (call.attrs().dynamic_slice_sizes_size() > 0 && call.num_operands() == 4) {
    MeshBuffer moved;
    RETURN_IF_ERROR(BlockMover(call, pairs).Run(&moved));
    if (moved.is_tuple()) {
      results->assign(moved.elements().begin(), moved.elements().end());
    } else {
      results->push_back(std::move(moved));
    }
    return absl::OkStatus();
  }
  results->resize(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) RETURN_IF_ERROR(Move(call, i, pairs, &(*results)[i]));
  return absl::OkStatus();
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
  state[0] = shapes[0].IsTuple() ? MeshBuffer::Tuple(std::move(operands)) : std::move(operands[0]);
  state[1] = shapes[1].IsTuple() ? MeshBuffer::Tuple(std::move(results)) : std::move(results[0]);
  for (size_t i = 2; i < shapes.size(); ++i) {
    RETURN_IF_ERROR(call.New(shapes[i].ByteSize(), /*uniform=*/true, &state[i]));
    std::memset(state[i].mutable_data(), 0, state[i].bytes());
  }
  call.result() = MeshBuffer::Tuple(std::move(state));
  return absl::OkStatus();
}

absl::Status ExecuteCollectivePermuteDone(OpCall& call) {
  call.result() = call.operand(0).element(1);
  return absl::OkStatus();
}

absl::Status ExecuteCollectiveBroadcast(OpCall& call) {
  const GroupPlaces* places;
  RETURN_IF_ERROR(FindGroups(call, /*all_take_part=*/false, &places));
  Pairs pairs;
  for (const std::vector<int64_t>& group : places->groups) {
    for (const int64_t place : group) pairs.emplace_back(group[0], place);
  }
  std::vector<MeshBuffer> results(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) RETURN_IF_ERROR(Move(call, i, pairs, &results[i]));
  SetResults(call, std::move(results));
  return absl::OkStatus();
}

}  // namespace toroid
