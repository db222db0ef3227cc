// Rewrites ops with side effects: a print, a callback, an infeed or outfeed on one device, an outfeed of cut
// data.
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/ir/native_types.h"
#include "partitioner/rewrite/rewriters.h"

namespace toroid {
namespace {

// The value that the other devices hold for a result of one device. Adding it leaves every value unchanged to
// the bit: for floats it is -0, since 0 + -0 is 0.
Literal Absent(PrimitiveType type) {
  return VisitArrayType(
      type,
      [](auto tag) -> Literal {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
          using R = typename T::value_type;
          return Literal::Scalar<T>(T(-R(0), -R(0)));
        } else if constexpr (IsSmallFloat<T>::value || std::is_floating_point_v<T> ||
                             std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
          return Literal::Scalar<T>(T(-0.0f));
        } else {
          return Literal::Scalar<T>(T(0));
        }
      },
      Literal());
}

// The branch of the device that runs the op.
Computation* BranchOnDevice(RewriteState& state, const Instruction& instruction, const Shape& operands) {
  Computation* branch = state.out->AddComputation(absl::StrCat(instruction.name(), ".on_device"));
  SpmdBuilder b(&state.spmd, branch);
  b.SetProvenance(&instruction);
  Instruction* parameter = branch->AddParameter(operands, "operands");
  std::vector<Instruction*> inside;
  for (int i = 0; i < instruction.num_operands(); ++i) inside.push_back(b.GetTupleElement(parameter, i));
  branch->set_root(b.Unflatten(instruction.shape(), CloneReplicated(b, instruction, inside)));
  return branch;
}

// The branch of the other devices.
Computation* BranchElsewhere(RewriteState& state, const Instruction& instruction, const Shape& operands) {
  Computation* branch = state.out->AddComputation(absl::StrCat(instruction.name(), ".elsewhere"));
  SpmdBuilder b(&state.spmd, branch);
  b.SetProvenance(&instruction);
  branch->AddParameter(operands, "operands");
  std::vector<Instruction*> leaves;
  for (const int t : state.graph.Leaves(instruction)) {
    const Shape& shape = state.graph.shape(t);
    leaves.push_back(shape.IsArray() ? b.Broadcast(b.Constant(Absent(shape.element_type())), shape.dims())
                                     : b.AfterAll({}));
  }
  branch->set_root(b.Unflatten(instruction.shape(), leaves));
  return branch;
}

}  // namespace

absl::Status RewriteOnDevice(RewriteState& state, SpmdBuilder& b, const Instruction& instruction,
                             int64_t device) {
  const auto results = state.graph.Leaves(instruction);
  for (const int t : results) {
    const Shape& shape = state.graph.shape(t);
    if (shape.IsArray() || shape.IsToken()) continue;
    return absl::UnimplementedError(
        absl::StrCat("device ", device, " alone gives a ", shape.ToString(),
                     ", of which the others can hold nothing; leave out the sharding"));
  }
  const std::vector<Instruction*> operands = ReplicatedOperands(state, b, instruction);
  b.SetProvenance(&instruction);
  Instruction* passed = b.Tuple(operands);
  Computation* branches[] = {BranchOnDevice(state, instruction, passed->shape()),
                             BranchElsewhere(state, instruction, passed->shape())};
  Instruction* id = b.Convert(b.PartitionId(), xla::S32);
  Instruction* here = b.Compare(id, b.IntScalar(device), "EQ");
  Instruction* chosen = b.Conditional(here, {passed, passed}, branches);
  const std::vector<Instruction*> locals = b.Flatten(chosen);
  for (size_t i = 0; i < results.size(); ++i) {
    Sharding sharding = state.values.Replicated(results[i]);
    if (state.graph.shape(results[i]).IsArray()) sharding.partial = state.mesh.AllAxes() & ~sharding.manual;
    state.values.Add(results[i], sharding, locals[i]);
  }
  return absl::OkStatus();
}

absl::Status RewriteOutfeed(RewriteState& state, SpmdBuilder& b, const Instruction& instruction,
                            absl::Span<const Sharding> data) {
  std::vector<Instruction*> leaves;
  const auto tensors = state.graph.Leaves(*instruction.operand(0));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Shape& shape = state.graph.shape(tensors[i]);
    Sharding wanted = i < data.size() ? data[i] : state.values.Replicated(tensors[i]);
    wanted.manual = state.annotations.manual[tensors[i]];
    if (wanted.partial != 0) {
      return absl::UnimplementedError(absl::StrCat(
          "an outfeed of ", shape.ToString(), " that is unreduced; feed it replicated or in equal parts"));
    }
    for (size_t d = 0; d < wanted.dims.size(); ++d) {
      const int64_t tiles = state.mesh.Product(wanted.dims[d]);
      if (shape.dim(d) % tiles == 0) continue;
      return absl::UnimplementedError(
          absl::StrCat("an outfeed of ", shape.ToString(), " in ", tiles, " parts along dimension ", d,
                       ": parts of unequal size; pad the data, or feed it replicated"));
    }
    leaves.push_back(state.values.Get(b, tensors[i], wanted, instruction));
  }
  b.SetProvenance(&instruction);
  Instruction* operand = b.Unflatten(instruction.operand(0)->shape(), leaves);
  const int token = state.graph.Leaves(*instruction.operand(1))[0];
  Instruction* clone =
      b.Clone(instruction, instruction.shape(),
              {operand, state.values.Get(b, token, state.values.Replicated(token), instruction)});
  *clone->MutableAttrs()->mutable_outfeed_shape() = operand->shape().ToProto();
  const int result = state.graph.Leaves(instruction)[0];
  state.values.Add(result, state.values.Replicated(result), clone);
  return absl::OkStatus();
}

}  // namespace toroid
