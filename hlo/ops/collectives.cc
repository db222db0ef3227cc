#include "hlo/ops/collectives.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo/base/math.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/ops/constraint.h"
#include "hlo/ops/device_groups.h"

namespace toroid {
namespace {

// The number of participants that a collective's ids may name; nullopt if the module does not state it.
absl::StatusOr<std::optional<int64_t>> ParticipantsOf(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const GroupMode mode, GroupModeOf(instruction));
  const ModuleConfig& config = instruction.computation()->module()->config();
  const int64_t replicas = config.replica_count, partitions = config.num_partitions;
  const std::optional<int64_t> instances =
      replicas >= 1 && partitions >= 1 ? CheckedMultiply(replicas, partitions) : std::nullopt;
  if (!instances || *instances == 1) return std::nullopt;
  if (mode == GroupMode::kFlattened) return instances;
  return mode == GroupMode::kCrossPartition ? partitions : replicas;
}

// Checks C1 .. C5. `size` of the result is the number of members that contribute to one result, if known: a
// group of replica ids under a channel also holds all partitions.
absl::StatusOr<DeviceGroupSizes> CheckGroups(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  const bool broadcast = opcode == Opcode::kCollectiveBroadcast;
  const bool may_differ = broadcast || opcode == Opcode::kAllReduce || opcode == Opcode::kAllReduceStart;
  ASSIGN_OR_RETURN(DeviceGroupSizes sizes, CheckDeviceGroups(instruction.attrs(), may_differ));
  const absl::StatusOr<GroupMode> mode = GroupModeOf(instruction);
  if (!mode.ok() || (*mode == GroupMode::kFlattened && !sizes.given)) {
    return Violates("C4", "use_global_device_ids", mode.ok() ? "no groups" : "no channel_id",
                    "channel_id and groups");
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> participants, ParticipantsOf(instruction));
  if (sizes.given && participants &&
      (sizes.end > *participants || (!broadcast && sizes.members != *participants))) {
    return Violates("C5", "device groups", absl::StrCat(sizes.members, " ids, the last one ", sizes.end - 1),
                    absl::StrCat("each of 0 .. ", *participants - 1));
  }
  if (*mode == GroupMode::kCrossReplicaAndPartition) sizes.size.reset();
  return sizes;
}

// The operand's shape; for several operands a tuple of their shapes.
Shape ShapesOf(absl::Span<Instruction* const> operands) {
  if (operands.size() == 1) return operands[0]->shape().WithRowMajorLayout();
  std::vector<Shape> shapes;
  for (const Instruction* operand : operands) shapes.push_back(operand->shape().WithRowMajorLayout());
  return Shape::Tuple(std::move(shapes));
}

absl::Status CheckScalarReducer(absl::string_view constraint, const Instruction& instruction) {
  // Compilers use only the op of a simple reducer, and reduce in the operand's type.
  const Computation& reducer = *instruction.called(0);
  if (instruction.num_operands() == 0) return absl::OkStatus();
  const PrimitiveType first = instruction.operand(0)->shape().element_type();
  const bool simple = IsSimpleReducer(reducer) && !IsComplex(first);
  for (const Instruction* operand : instruction.operands()) {
    const PrimitiveType type = operand->shape().element_type();
    if (!simple) RETURN_IF_ERROR(CheckReducer(constraint, reducer, {type}));
    // The state of a start op holds the operands unchanged.
    if (instruction.opcode() == Opcode::kAllReduceStart ? type == first : SameUpToFloats(type, first))
      continue;
    return Violates(constraint, "the types of the operands",
                    absl::StrCat(TypeName(first), " and ", TypeName(type)), "one");
  }
  return absl::OkStatus();
}

// Result i of `count` results; nullptr if there is none.
const Shape* ResultOf(const Shape& result, int i, int count) {
  if (count == 1 && i == 0 && result.IsArray()) return &result;
  if (!result.IsTuple() || static_cast<int>(result.tuple_shapes().size()) != count) return nullptr;
  return &result.tuple_shapes()[i];
}

// True if `large` is `small` with the size of dimension d multiplied by the group size.
bool IsScaled(const Shape& small, const Shape& large, int64_t d, const DeviceGroupSizes& groups) {
  if (!small.IsArray() || !large.IsArray() || small.element_type() != large.element_type() ||
      small.rank() != large.rank()) {
    return false;
  }
  for (int i = 0; i < small.rank(); ++i) {
    if (i != d && small.dim(i) != large.dim(i)) return false;
  }
  const int64_t from = small.dim(d), to = large.dim(d);
  if (from == 0) return to == 0;
  return to % from == 0 && to / from >= 1 && (!groups.size || to / from == *groups.size);
}

// Checks C6 and C7 of all-gather (gather) or reduce-scatter (!gather) with this result.
absl::Status CheckScaledResults(const Instruction& instruction, const Shape& result, bool gather) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const DeviceGroupSizes groups, CheckGroups(instruction));
  const int n = instruction.num_operands();
  for (int i = 0; i < n; ++i) {
    const Shape& operand = instruction.operand(i)->shape();
    RETURN_IF_ERROR(CheckOneDimension("C6", instruction, operand.rank()));
    const int64_t d = instruction.dimension();
    const Shape* own = ResultOf(result, i, n);
    if (own != nullptr && IsScaled(gather ? operand : *own, gather ? *own : operand, d, groups)) continue;
    return Violates("C7", absl::StrCat("result ", i, " of ", operand.ToString()),
                    own == nullptr ? result.ToString() : own->ToString(),
                    absl::StrCat("dimension ", d, gather ? " multiplied" : " divided", " by the group size",
                                 groups.size ? absl::StrCat(" ", *groups.size) : ""));
  }
  return absl::OkStatus();
}

// Checks C1 .. C4 of collective-permute. Pairs of a pattern, which occur only in memory, are distinct by
// construction and are checked at run time: a check here would list them for every permute that is built.
absl::Status CheckPairs(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> participants, ParticipantsOf(instruction));
  absl::flat_hash_set<int64_t> sources, targets;
  for (const xla::SourceTarget& pair : instruction.attrs().source_target_pairs()) {
    const std::string text = absl::StrCat("{", pair.source(), ",", pair.target(), "}");
    if (pair.source() < 0 || pair.target() < 0) return Violates("C1", "pair", text, "ids of 0 or more");
    if (!sources.insert(pair.source()).second) return Violates("C2", "pair", text, "distinct sources");
    if (!targets.insert(pair.target()).second) return Violates("C3", "pair", text, "distinct targets");
    if (participants && (pair.source() >= *participants || pair.target() >= *participants)) {
      return Violates("C4", "pair", text, absl::StrCat("ids of 0 .. ", *participants - 1));
    }
  }
  return absl::OkStatus();
}

// The operands of the sliced form of collective-permute, or one buffer of each operand.
struct SlicedBuffers {
  const Shape& input;
  const Shape& output;
  const Shape& input_starts;
  const Shape& output_starts;
};

bool AreStarts(const Shape& starts, int rank) {
  return starts.IsTuple() && static_cast<int>(starts.tuple_shapes().size()) == rank &&
         std::all_of(starts.tuple_shapes().begin(), starts.tuple_shapes().end(),
                     [](const Shape& s) { return s.IsScalar() && IsInt(s.element_type()); });
}

// True if the starts and the next of *sizes give blocks inside both arrays.
bool AreBlocks(const SlicedBuffers& b, absl::Span<const int64_t>* sizes) {
  const size_t n = b.input_starts.tuple_shapes().size();
  if (!b.input_starts.IsTuple() || !b.output_starts.IsTuple() || b.output_starts.tuple_shapes().size() != n ||
      b.input.IsTuple() != b.output.IsTuple()) {
    return false;
  }
  if (b.input.IsTuple() || (n > 0 && b.input_starts.tuple_shape(0).IsTuple())) {
    const bool tuple = b.input.IsTuple();
    if (tuple && (b.input.tuple_shapes().size() != n || b.output.tuple_shapes().size() != n)) return false;
    for (int i = 0; i < static_cast<int>(n); ++i) {
      const SlicedBuffers part = {tuple ? b.input.tuple_shape(i) : b.input,
                                  tuple ? b.output.tuple_shape(i) : b.output, b.input_starts.tuple_shape(i),
                                  b.output_starts.tuple_shape(i)};
      if (!AreBlocks(part, sizes)) return false;
    }
    return true;
  }
  const int rank = b.output.rank();
  if (!b.input.IsArray() || !b.output.IsArray() || rank == 0 || b.input.rank() != rank ||
      b.input.element_type() != b.output.element_type() || !AreStarts(b.input_starts, rank) ||
      !AreStarts(b.output_starts, rank) || static_cast<int>(sizes->size()) < rank) {
    return false;
  }
  for (int d = 0; d < rank; ++d) {
    const int64_t size = (*sizes)[d];
    if (size < 0 || size > b.input.dim(d) || size > b.output.dim(d)) return false;
  }
  sizes->remove_prefix(rank);
  return true;
}

// Checks C5 of collective-permute.
absl::Status CheckSlices(const Instruction& instruction) {
  if (instruction.num_operands() != 4) {
    return Violates("C5", "operands of the sliced form", absl::StrCat(instruction.num_operands()), "4");
  }
  absl::Span<const int64_t> sizes = AsSpan(instruction.attrs().dynamic_slice_sizes());
  const auto shape = [&](int i) -> const Shape& { return instruction.operand(i)->shape(); };
  if (AreBlocks({shape(0), shape(1), shape(2), shape(3)}, &sizes) && sizes.empty()) return absl::OkStatus();
  return Violates("C5", "blocks of the sliced form",
                  absl::StrCat("sizes ", ListOf(AsSpan(instruction.attrs().dynamic_slice_sizes())),
                               ", starts ", shape(2).ToString(), " and ", shape(3).ToString()),
                  absl::StrCat("one start and one size per dimension of ", shape(0).ToString(), " and ",
                               shape(1).ToString()));
}

// Checks C1 of a done; returns element 1 of the start op's state.
absl::StatusOr<Shape> ResultOfState(const Instruction& done) {
  const Shape& state = done.operand(0)->shape();
  if (!state.IsTuple() || state.tuple_shapes().size() < 2) {
    return Violates("C1", "operand 0", state.ToString(), "a state (operand, result, ..)");
  }
  return state.tuple_shape(1);
}

}  // namespace

absl::StatusOr<Shape> InferAllReduceShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  RETURN_IF_ERROR(CheckGroups(instruction).status());
  RETURN_IF_ERROR(CheckScalarReducer("C6", instruction));
  return ShapesOf(instruction.operands());
}

absl::StatusOr<Shape> InferAllGatherShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckScaledResults(instruction, given, /*gather=*/true));
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferReduceScatterShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckScaledResults(instruction, given, /*gather=*/false));
  RETURN_IF_ERROR(CheckScalarReducer("C8", instruction));
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferAllToAllShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const DeviceGroupSizes groups, CheckGroups(instruction));
  const Shape& first = instruction.operand(0)->shape();
  const int n = instruction.num_operands();
  if (!instruction.dimensions().empty()) {
    if (n != 1) return Violates("C6", "operands of the array form", absl::StrCat(n), "one");
    RETURN_IF_ERROR(CheckOneDimension("C6", instruction, first.rank()));
    const int64_t d = instruction.dimension();
    if (groups.size && first.dim(d) % *groups.size != 0) {
      return Violates("C7", absl::StrCat("dimension ", d), first.ToString(),
                      absl::StrCat("a multiple of the group size ", *groups.size));
    }
    return first.WithRowMajorLayout();
  }
  for (int i = 0; i < n; ++i) {
    RETURN_IF_ERROR(CheckShape("C8", absl::StrCat("operand ", i), instruction.operand(i)->shape(), first));
  }
  if (groups.size && *groups.size != n) {
    return Violates("C9", "operands of the tuple form", absl::StrCat(n),
                    absl::StrCat("the group size ", *groups.size));
  }
  // A tuple even for one operand.
  return Shape::Tuple(std::vector<Shape>(n, first.WithRowMajorLayout()));
}

absl::StatusOr<Shape> InferRaggedAllToAllShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const DeviceGroupSizes groups, CheckGroups(instruction));
  const Shape& input = instruction.operand(0)->shape();
  const Shape& output = instruction.operand(1)->shape();
  bool fits =
      input.rank() >= 1 && input.rank() == output.rank() && input.element_type() == output.element_type();
  for (int d = 1; fits && d < input.rank(); ++d) fits = input.dim(d) == output.dim(d);
  if (!fits) {
    return Violates("C6", "the output", output.ToString(),
                    absl::StrCat(input.ToString(), " but for dimension 0, which both have"));
  }
  const Shape& offsets = instruction.operand(2)->shape();
  for (int i = 2; i < 6; ++i) {
    const Shape& indices = instruction.operand(i)->shape();
    if (!IsInt(indices.element_type()) || !SameShape(indices, offsets) || indices.rank() < 1 ||
        indices.rank() > 2) {
      return Violates("C7", absl::StrCat("operand ", i), indices.ToString(),
                      "integers [members] or [members, updates], of one shape");
    }
  }
  if (groups.size && *groups.size != offsets.dim(0)) {
    return Violates("C8", "operand 2", offsets.ToString(),
                    absl::StrCat("leading size ", *groups.size, ", the group size"));
  }
  return output.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferCollectiveBroadcastShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  RETURN_IF_ERROR(CheckGroups(instruction).status());
  return ShapesOf(instruction.operands());
}

absl::StatusOr<Shape> InferCollectivePermuteShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckPairs(instruction));
  if (instruction.attrs().dynamic_slice_sizes_size() > 0) {
    RETURN_IF_ERROR(CheckSlices(instruction));
    return instruction.operand(1)->shape().WithRowMajorLayout();
  }
  RETURN_IF_ERROR(CheckArrays(instruction));
  return ShapesOf(instruction.operands());
}

absl::StatusOr<Shape> InferAllReduceStartShape(const Instruction& instruction) {
  return InferAllReduceShape(instruction);
}

absl::StatusOr<Shape> InferAllReduceDoneShape(const Instruction& instruction) {
  const Shape& state = instruction.operand(0)->shape();
  const bool arrays = state.IsTuple() && std::all_of(state.tuple_shapes().begin(), state.tuple_shapes().end(),
                                                     [](const Shape& element) { return element.IsArray(); });
  if (state.IsArray() || arrays) return state;
  return Violates("C1", "operand 0", state.ToString(), "an array or a tuple of arrays");
}

absl::StatusOr<Shape> InferAllGatherStartShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  if (!given.IsTuple() || given.tuple_shapes().size() < 2 ||
      !SameShape(given.tuple_shape(0), ShapesOf(instruction.operands()))) {
    return Violates("C8", "the state", given.ToString(), "(operands, results)");
  }
  RETURN_IF_ERROR(CheckScaledResults(instruction, given.tuple_shape(1), /*gather=*/true));
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferAllGatherDoneShape(const Instruction& instruction) {
  return ResultOfState(instruction);
}

absl::StatusOr<Shape> InferCollectivePermuteStartShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(Shape given, GivenShape(instruction));
  ASSIGN_OR_RETURN(const Shape result, InferCollectivePermuteShape(instruction));
  if (!given.IsTuple() || given.tuple_shapes().size() < 2 || !SameShape(given.tuple_shape(1), result)) {
    return Violates("C6", "the state", given.ToString(),
                    absl::StrCat("(operand, ", result.ToString(), ", ..)"));
  }
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferCollectivePermuteDoneShape(const Instruction& instruction) {
  return ResultOfState(instruction);
}

}  // namespace toroid
