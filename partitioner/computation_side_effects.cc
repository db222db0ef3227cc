// Ops that do more than compute: a print, a callback, an infeed or outfeed of one device or of cut data.
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "partitioner/computation_partitioner.h"

namespace toroid {
namespace {

// What the other devices hold of a result that one device has: the value that adding leaves others unchanged by,
// to the bit. -0 + -0 is -0, where 0 + -0 is not.
Literal Absent(PrimitiveType type) {
  return VisitArrayType(
      type,
      [](auto tag) -> Literal {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
          using R = typename T::value_type;
          return Literal::Scalar<T>(T(-R(0), -R(0)));
        } else if constexpr (IsSmallFloat<T>::value || std::is_floating_point_v<T> || std::is_same_v<T, half> ||
                             std::is_same_v<T, bfloat16>) {
          return Literal::Scalar<T>(T(-0.0f));
        } else {
          return Literal::Scalar<T>(T(0));
        }
      },
      Literal());
}

}  // namespace

// The devices agree on the operands, one of them runs the op, and what it gives is partial over all of them:
//   conditional(partition-id = device, operands, operands), true: the op; false: absent results
absl::Status ComputationPartitioner::PartitionOnDevice(const Instruction& instruction, int64_t device) {
  for (const int t : graph_.Leaves(instruction)) {
    if (graph_.shape(t).IsArray() || graph_.shape(t).IsToken()) continue;
    return absl::UnimplementedError(absl::StrCat("device ", device, " alone gives a ", graph_.shape(t).ToString(),
                                                 ", of which the others can hold nothing; leave out the sharding"));
  }
  std::vector<Instruction*> operands;
  for (const Instruction* operand : instruction.operands()) {
    std::vector<Instruction*> leaves;
    for (const int t : graph_.Leaves(*operand)) leaves.push_back(Get(t, Whole(t), instruction));
    operands.push_back(b_->Unflatten(operand->shape(), leaves));
  }
  b_->Serve(&instruction);
  Instruction* passed = b_->Tuple(operands);
  SpmdBuilder* const outer = b_;
  Computation* branches[2];
  for (const bool runs : {true, false}) {
    Computation* branch =
        out_->AddComputation(absl::StrCat(instruction.name(), runs ? ".on_device" : ".elsewhere"));
    SpmdBuilder builder(&shared_, branch);
    b_ = &builder;
    b_->Serve(&instruction);
    Instruction* parameter = branch->AddParameter(passed->shape(), "operands");
    if (runs) {
      std::vector<Instruction*> inside;
      for (size_t i = 0; i < operands.size(); ++i) inside.push_back(b_->GetTupleElement(parameter, static_cast<int>(i)));
      branch->set_root(b_->Unflatten(instruction.shape(), CloneWhole(instruction, inside)));
    } else {
      std::vector<Instruction*> leaves;
      for (const int t : graph_.Leaves(instruction)) {
        const Shape& shape = graph_.shape(t);
        leaves.push_back(shape.IsArray() ? b_->Broadcast(b_->Constant(Absent(shape.element_type())), shape.dims())
                                         : b_->AfterAll({}));
      }
      branch->set_root(b_->Unflatten(instruction.shape(), leaves));
    }
    branches[runs ? 0 : 1] = branch;
    b_ = outer;
  }
  Instruction* id = b_->Convert(b_->PartitionId(), xla::S32);
  Instruction* here = b_->Compare(id, b_->IntScalar(device), "EQ");
  Instruction* chosen = b_->Conditional(here, {passed, passed}, branches);
  const std::vector<Instruction*> locals = b_->Flatten(chosen);
  const auto leaves = graph_.Leaves(instruction);
  for (size_t i = 0; i < leaves.size(); ++i) {
    Sharding sharding = Whole(leaves[i]);
    if (graph_.shape(leaves[i]).IsArray()) sharding.partial = mesh_.AllAxes() & ~sharding.manual;
    Define(leaves[i], sharding, locals[i]);
  }
  return absl::OkStatus();
}

// Every device feeds its tiles of the data.
absl::Status ComputationPartitioner::PartitionOutfeed(const Instruction& instruction,
                                                      absl::Span<const Sharding> data) {
  std::vector<Instruction*> leaves;
  const auto tensors = graph_.Leaves(*instruction.operand(0));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Shape& shape = graph_.shape(tensors[i]);
    Sharding wanted = i < data.size() ? data[i] : Whole(tensors[i]);
    wanted.manual = annotations_.manual[tensors[i]];
    for (size_t d = 0; d < wanted.dims.size(); ++d) {
      const int64_t tiles = mesh_.Product(wanted.dims[d]);
      if (shape.dim(d) % tiles == 0) continue;
      return absl::UnimplementedError(absl::StrCat("an outfeed of ", shape.ToString(), " in ", tiles,
                                                   " parts along dimension ", d,
                                                   ": parts of unequal size; pad the data, or feed it whole"));
    }
    leaves.push_back(Get(tensors[i], wanted, instruction));
  }
  b_->Serve(&instruction);
  Instruction* operand = b_->Unflatten(instruction.operand(0)->shape(), leaves);
  const int token = graph_.Leaves(*instruction.operand(1))[0];
  Instruction* clone = b_->Clone(instruction, instruction.shape(),
                                 {operand, Get(token, Whole(token), instruction)});
  *clone->MutableAttrs()->mutable_outfeed_shape() = operand->shape().ToProto();
  const int result = graph_.Leaves(instruction)[0];
  Define(result, Whole(result), clone);
  return absl::OkStatus();
}

}  // namespace toroid
