#include "runtime/collectives/all_to_all.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/collectives/exchange.h"
#include "runtime/collectives/group_places.h"
#include "runtime/loops/index_values.h"
#include "runtime/mesh/active_devices.h"

namespace toroid {
namespace {

absl::Status ArrayForm(OpCall& call, const GroupPlaces& places) {
  const int64_t d = call.instruction().dimension(), size = places.common_size;
  const PieceLayout layout(call.shape(), d);
  if (layout.count % size != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("groups of ", size, " do not divide dimension ", d, " of ", call.shape().ToString()));
  }
  if (size == 1) {
    call.result() = call.TakeOperand(0);
    return absl::OkStatus();
  }
  const int64_t bytes = call.result_bytes(), block = layout.count / size * layout.inner;
  MeshBuffer result;
  RETURN_IF_ERROR(call.New(bytes, /*uniform=*/false, &result));
  Exchange exchange{places.groups};
  exchange.outer = layout.outer, exchange.run = block;
  exchange.in_bytes = exchange.out_bytes = bytes;
  exchange.in_stride = exchange.out_stride = block * size;
  exchange.in_step = exchange.out_step = block;
  RETURN_IF_ERROR(CarryOut(call, exchange, call.operand(0), &result));
  call.result() = std::move(result);
  return absl::OkStatus();
}

absl::Status TupleForm(OpCall& call, const GroupPlaces& places) {
  const int64_t size = places.common_size;
  if (call.num_operands() != size) {
    return absl::InvalidArgumentError(absl::StrCat(call.num_operands(), " operands for groups of ", size));
  }
  const int64_t bytes = call.operand_shape(0).ByteSize();
  const MeshContext& mesh = call.mesh();
  const Ranks ranks(mesh);
  const StridedLoop loop = OneRun(bytes);
  std::vector<MeshBuffer> results(size);
  for (MeshBuffer& result : results) RETURN_IF_ERROR(call.New(bytes, /*uniform=*/false, &result));
  RETURN_IF_ERROR(MovePieces(call, [&](auto visit) {
    for (int64_t from = 0; from < size && bytes > 0; ++from) {
      for (const std::vector<int64_t>& group : places.groups) {
        for (int to = 0; to < size; ++to) {
          Piece piece{ranks.Of(group[from]), ranks.Of(group[to]), &loop};
          if (call.uniform(to)) piece.source = piece.target;
          if (piece.source == ranks.mine()) {
            piece.read = call.data(to) + (call.uniform(to) ? 0 : (group[from] - mesh.first_here) * bytes);
          }
          if (piece.target == ranks.mine())
            piece.write = results[from].mutable_data() + (group[to] - mesh.first_here) * bytes;
          visit(piece);
        }
      }
    }
  }));
  SetResults(call, std::move(results));
  return absl::OkStatus();
}

// The rows that one member sends to another: `count` rows from `source`, written from row `target`.
struct RaggedPiece {
  int64_t source, count, target;
};

}  // namespace

absl::Status ExecuteAllToAll(OpCall& call) {
  const GroupPlaces* places;
  RETURN_IF_ERROR(FindGroups(call, /*all_take_part=*/true, &places));
  if (places->common_size == 0) return absl::InvalidArgumentError("device groups of different sizes");
  if (call.shape().IsTuple()) return TupleForm(call, *places);
  if (call.instruction().dimensions().empty()) {
    if (call.num_operands() == 1 && places->common_size == 1) return ArrayForm(call, *places);
    return absl::InvalidArgumentError("an array is split along a dimension");
  }
  return ArrayForm(call, *places);
}

absl::Status ExecuteRaggedAllToAll(OpCall& call) {
  const GroupPlaces* places;
  RETURN_IF_ERROR(FindGroups(call, /*all_take_part=*/true, &places));
  const Shape& input = call.operand_shape(0);
  const Shape& output = call.shape();
  const Shape& index_shape = call.operand_shape(2);
  const MeshContext& mesh = call.mesh();
  const int64_t size = places->common_size, members = index_shape.rank() > 0 ? index_shape.dim(0) : 0;
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
  // Every rank gathers the offsets and sizes of all devices.
  const char* indices[5] = {};
  std::vector<char> storage[5];
  for (int i = 2; i < 5; ++i) {
    indices[i] = call.data(i);
    if (call.uniform(i)) continue;
    ASSIGN_OR_RETURN(indices[i], EveryRow(mesh, call.data(i), call.operand_shape(i).ByteSize(), &storage[i]));
  }
  const auto index = [&](int operand, int64_t place, int64_t at) {
    return IndexValue(call.operand_shape(operand).element_type(), indices[operand],
                      (call.uniform(operand) ? 0 : place * index_shape.NumElements()) + at);
  };
  const auto piece_of = [&](int64_t place, int64_t at) {
    return RaggedPiece{index(2, place, at), index(3, place, at), index(4, place, at)};
  };
  for (const std::vector<int64_t>& group : places->groups) {
    for (const int64_t from : group) {
      for (int64_t at = 0; at < size * updates; ++at) {
        const RaggedPiece piece = piece_of(from, at);
        if (piece.count == 0 ||
            (piece.source >= 0 && piece.count > 0 && piece.target >= 0 &&
             piece.source <= input.dim(0) - piece.count && piece.target <= output.dim(0) - piece.count)) {
          continue;
        }
        return absl::InvalidArgumentError(absl::StrCat("device ", mesh.DeviceAt(from), " sends rows ",
                                                       piece.source, " + ", piece.count, " of ", input.dim(0),
                                                       " to row ", piece.target, " of ", output.dim(0),
                                                       " on device ", mesh.DeviceAt(group[at / updates])));
      }
    }
  }
  const Ranks ranks(mesh);
  char* const out = result.mutable_data();
  RETURN_IF_ERROR(MovePieces(
      call,
      [&](auto visit) {
        for (const std::vector<int64_t>& group : places->groups) {
          for (const int64_t from : group) {
            for (int64_t at = 0; at < size * updates; ++at) {
              const RaggedPiece run = piece_of(from, at);
              const int64_t to = group[at / updates];
              const StridedLoop loop = OneRun(run.count * line);
              Piece piece{ranks.Of(from), ranks.Of(to), &loop};
              if (call.uniform(0)) piece.source = piece.target;
              if (run.count == 0 || line == 0) continue;
              if (piece.source == ranks.mine()) {
                piece.read = call.data(0) + run.source * line +
                             (call.uniform(0) ? 0 : (from - mesh.first_here) * input.ByteSize());
              }
              if (piece.target == ranks.mine())
                piece.write = out + (to - mesh.first_here) * call.result_bytes() + run.target * line;
              visit(piece);
            }
          }
        }
      },
      /*overlapping=*/true));
  call.result() = std::move(result);
  return absl::OkStatus();
}

}  // namespace toroid
