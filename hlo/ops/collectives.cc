#include "hlo/ops/collectives.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo/ops/constraint.h"
#include "hlo/ops/device_groups.h"

namespace toroid {
namespace {

int64_t ChannelOf(const Instruction& instruction) {
  const xla::HloInstructionProto& attrs = instruction.attrs();
  return attrs.channel_id() != 0 ? attrs.channel_id() : attrs.all_reduce_id();
}

// Checks C1 and C2. The result's size is how many members contribute to one result, where that is known:
// groups of replica ids under a channel also hold all partitions.
absl::StatusOr<DeviceGroupSizes> CheckGroups(const Instruction& instruction, bool may_differ = false) {
  ASSIGN_OR_RETURN(DeviceGroupSizes sizes, CheckDeviceGroups(instruction.attrs(), may_differ));
  const bool channel = ChannelOf(instruction) > 0;
  const bool global_ids = instruction.attrs().use_global_device_ids();
  if (global_ids && (!channel || !sizes.given)) {
    return Violates("C2", "use_global_device_ids without channel_id and groups");
  }
  if (channel && !global_ids && HasAttribute(instruction.opcode(), kGlobalIds)) sizes.size.reset();
  return sizes;
}

// The operands' shapes: one alone, several as a tuple.
Shape ShapesOf(absl::Span<Instruction* const> operands) {
  if (operands.size() == 1) return operands[0]->shape().WithRowMajorLayout();
  std::vector<Shape> shapes;
  for (const Instruction* operand : operands) shapes.push_back(operand->shape().WithRowMajorLayout());
  return Shape::Tuple(std::move(shapes));
}

absl::Status CheckScalarReducer(absl::string_view constraint, const Instruction& instruction) {
  for (const Instruction* operand : instruction.operands()) {
    RETURN_IF_ERROR(CheckReducer(constraint, *instruction.called(0), {operand->shape().element_type()}));
  }
  return absl::OkStatus();
}

// Result i, of one or of a tuple; nullptr if there is none.
const Shape* ResultOf(const Shape& result, int i, int count) {
  if (count == 1 && i == 0 && result.IsArray()) return &result;
  if (!result.IsTuple() || static_cast<int>(result.tuple_shapes().size()) != count) return nullptr;
  return &result.tuple_shapes()[i];
}

// `large` is `small` with the size along d multiplied by the group size.
absl::Status CheckScaled(const Shape& small, const Shape& large, int64_t d, const DeviceGroupSizes& groups) {
  bool fits = small.IsArray() && large.IsArray() && small.element_type() == large.element_type() &&
              small.rank() == large.rank();
  for (int i = 0; fits && i < small.rank(); ++i) fits = i == d || small.dim(i) == large.dim(i);
  if (fits) {
    const int64_t from = small.dim(static_cast<int>(d)), to = large.dim(static_cast<int>(d));
    fits =
        from == 0 ? to == 0 : to % from == 0 && to / from >= 1 && (!groups.size || to / from == *groups.size);
  }
  if (fits) return absl::OkStatus();
  return Violates("C4", absl::StrCat(small.ToString(), " and ", large.ToString(), " in dimension ", d,
                                     groups.size ? absl::StrCat(" for groups of ", *groups.size) : ""));
}

// Checks results of all-gather (gather) or reduce-scatter (!gather) over these operands.
absl::Status CheckScaledResults(const Instruction& instruction, const Shape& result, bool gather) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const DeviceGroupSizes groups, CheckGroups(instruction));
  if (instruction.dimensions().size() != 1) return Violates("C3", "not exactly one dimension");
  const int n = instruction.num_operands();
  for (int i = 0; i < n; ++i) {
    const Shape& operand = instruction.operand(i)->shape();
    RETURN_IF_ERROR(CheckDimension("C3", "dimension", instruction.dimension(), operand.rank()));
    const Shape* own = ResultOf(result, i, n);
    if (own == nullptr)
      return Violates("C4", absl::StrCat("result ", result.ToString(), " of ", n, " operands"));
    RETURN_IF_ERROR(
        CheckScaled(gather ? operand : *own, gather ? *own : operand, instruction.dimension(), groups));
  }
  return absl::OkStatus();
}

absl::Status CheckPairs(const Instruction& instruction) {
  absl::flat_hash_set<int64_t> sources, targets;
  for (const xla::SourceTarget& pair : instruction.attrs().source_target_pairs()) {
    if (pair.source() < 0 || pair.target() < 0 || !sources.insert(pair.source()).second ||
        !targets.insert(pair.target()).second) {
      return Violates(
          "C3", absl::StrCat("pair {", pair.source(), ",", pair.target(), "} is negative or repeats one"));
    }
  }
  return absl::OkStatus();
}

// Slice sizes of the sliced form, rank many each, fit input and output.
absl::Status CheckSlices(const Instruction& instruction) {
  const auto sizes = AsSpan(instruction.attrs().dynamic_slice_sizes());
  if (instruction.num_operands() != 4) {
    return Violates("C4", absl::StrCat("the sliced form has 4 operands, not ", instruction.num_operands()));
  }
  const Shape& input = instruction.operand(0)->shape();
  const Shape& output = instruction.operand(1)->shape();
  if (input.IsTuple() && output.IsTuple())
    return absl::OkStatus();  // Several slices per pair: not computed here.
  bool fits = input.IsArray() && output.IsArray() && input.rank() > 0 && input.rank() == output.rank() &&
              input.element_type() == output.element_type() && sizes.size() % input.rank() == 0;
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    const int d = static_cast<int>(i % input.rank());
    fits = sizes[i] >= 0 && sizes[i] <= input.dim(d) && sizes[i] <= output.dim(d);
  }
  if (fits) return absl::OkStatus();
  return Violates("C4", absl::StrCat("slices of ", input.ToString(), " into ", output.ToString()));
}

// Element 1 of the state that a start op left.
absl::StatusOr<Shape> ResultOfState(const Instruction& done, Opcode start) {
  const Instruction& state = *done.operand(0);
  if (!state.shape().IsTuple() || state.shape().tuple_shapes().size() < 2) {
    return Violates(
        "C1", absl::StrCat("operand ", state.shape().ToString(), " is no state of ", OpcodeName(start)));
  }
  return state.shape().tuple_shape(1);
}

}  // namespace

absl::StatusOr<Shape> InferAllReduceShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  RETURN_IF_ERROR(CheckGroups(instruction, /*may_differ=*/true).status());
  RETURN_IF_ERROR(CheckScalarReducer("C3", instruction));
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
  RETURN_IF_ERROR(CheckScalarReducer("C5", instruction));
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferAllToAllShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const DeviceGroupSizes groups, CheckGroups(instruction));
  const Shape& first = instruction.operand(0)->shape();
  if (!instruction.dimensions().empty()) {
    const int64_t d = instruction.dimension();
    if (instruction.num_operands() != 1 || instruction.dimensions().size() != 1) {
      return Violates("C3", "the array form has one operand and one dimension");
    }
    RETURN_IF_ERROR(CheckDimension("C3", "dimension", d, first.rank()));
    if (groups.size && first.dim(static_cast<int>(d)) % *groups.size != 0) {
      return Violates("C3", absl::StrCat("dimension ", d, " of ", first.ToString(), " does not split into ",
                                         *groups.size));
    }
    return first.WithRowMajorLayout();
  }
  for (const Instruction* operand : instruction.operands()) {
    if (!SameShape(operand->shape(), first)) {
      return Violates("C4",
                      absl::StrCat("operands ", first.ToString(), " and ", operand->shape().ToString()));
    }
  }
  if (groups.size && *groups.size != instruction.num_operands()) {
    return Violates("C4", absl::StrCat(instruction.num_operands(), " operands for groups of ", *groups.size));
  }
  // Always a tuple, also of one.
  std::vector<Shape> shapes(instruction.num_operands(), first.WithRowMajorLayout());
  return Shape::Tuple(std::move(shapes));
}

absl::StatusOr<Shape> InferRaggedAllToAllShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  RETURN_IF_ERROR(CheckGroups(instruction).status());
  const Shape& input = instruction.operand(0)->shape();
  const Shape& output = instruction.operand(1)->shape();
  bool fits =
      input.rank() >= 1 && input.rank() == output.rank() && input.element_type() == output.element_type();
  for (int d = 1; fits && d < input.rank(); ++d) fits = input.dim(d) == output.dim(d);
  if (!fits) return Violates("C3", absl::StrCat("input ", input.ToString(), ", output ", output.ToString()));
  const Shape& offsets = instruction.operand(2)->shape();
  for (int i = 2; i < 6; ++i) {
    const Shape& indices = instruction.operand(i)->shape();
    if (!IsInt(indices.element_type()) || !SameShape(indices, offsets) || indices.rank() < 1 ||
        indices.rank() > 2) {
      return Violates("C4", absl::StrCat("operand ", i, " is ", indices.ToString()));
    }
  }
  return output.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferCollectiveBroadcastShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  RETURN_IF_ERROR(CheckGroups(instruction, /*may_differ=*/true).status());
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
  return instruction.operand(0)->shape();
}

absl::StatusOr<Shape> InferAllGatherStartShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(Shape given, GivenShape(instruction));
  if (!given.IsTuple() || given.tuple_shapes().size() < 2 ||
      !SameShape(given.tuple_shape(0), ShapesOf(instruction.operands()))) {
    return Violates("C3", absl::StrCat("state ", given.ToString()), "give (operands, results)");
  }
  RETURN_IF_ERROR(CheckScaledResults(instruction, given.tuple_shape(1), /*gather=*/true));
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferAllGatherDoneShape(const Instruction& instruction) {
  return ResultOfState(instruction, Opcode::kAllGatherStart);
}

absl::StatusOr<Shape> InferCollectivePermuteStartShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(Shape given, GivenShape(instruction));
  ASSIGN_OR_RETURN(const Shape result, InferCollectivePermuteShape(instruction));
  if (!given.IsTuple() || given.tuple_shapes().size() < 2 || !SameShape(given.tuple_shape(1), result)) {
    return Violates("C5", absl::StrCat("state ", given.ToString()),
                    absl::StrCat("give (operand, ", result.ToString(), ", ..)"));
  }
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferCollectivePermuteDoneShape(const Instruction& instruction) {
  return ResultOfState(instruction, Opcode::kCollectivePermuteStart);
}

}  // namespace toroid
