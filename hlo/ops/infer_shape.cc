#include "hlo/ops/infer_shape.h"

#include "hlo/ops/collectives.h"
#include "hlo/ops/constraint.h"
#include "hlo/ops/control_flow.h"
#include "hlo/ops/convolution.h"
#include "hlo/ops/data_movement.h"
#include "hlo/ops/dot.h"
#include "hlo/ops/elementwise.h"
#include "hlo/ops/indexing.h"
#include "hlo/ops/linear_algebra.h"
#include "hlo/ops/random.h"
#include "hlo/ops/reduce.h"
#include "hlo/ops/sort.h"
#include "hlo/ops/structure.h"
#include "hlo/ops/transfer.h"

namespace toroid {

// Declares the function of every family. A family without one is a link error that names it.
#define HLO_OP(enumerator, name, arity, family, attributes, traits) \
  absl::StatusOr<Shape> Infer##family##Shape(const Instruction& instruction);
#include "hlo/opcode.inc"
#undef HLO_OP

namespace {

using InferFunction = absl::StatusOr<Shape> (*)(const Instruction&);

constexpr InferFunction kInfer[] = {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) Infer##family##Shape,
#include "hlo/opcode.inc"
#undef HLO_OP
};

// The least and the largest number of computations that an opcode calls.
std::pair<int, int> CalledCount(Opcode opcode) {
  constexpr int kMany = 1 << 20;
  const uint64_t attributes = OpcodeAttributes(opcode);
  if (attributes & kCustomCallOptions) return {0, kMany};
  if (attributes & kAsyncOptions) return {0, 1};
  if (attributes & kBranches) return {1, kMany};
  if (attributes & (kConditionBody | kSelectScatter)) return {2, 2};
  if (attributes & (kToApply | kFusionOptions)) return {1, 1};
  return {0, 0};
}

}  // namespace

absl::StatusOr<Shape> InferShape(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  if (opcode == Opcode::kUnknown) return GivenShape(instruction);
  const int arity = OpcodeArity(opcode);
  if (arity != kVariadic && instruction.num_operands() != arity) {
    return Violates("A1", absl::StrCat("operands of ", OpcodeName(opcode)),
                    absl::StrCat(instruction.num_operands()), absl::StrCat(arity));
  }
  const auto [fewest, most] = CalledCount(opcode);
  const int called = static_cast<int>(instruction.called().size());
  if (called < fewest || called > most) {
    return Violates("A2", absl::StrCat("computations called by ", OpcodeName(opcode)), absl::StrCat(called),
                    called < fewest ? absl::StrCat("at least ", fewest) : absl::StrCat("at most ", most));
  }
  // Elements of tuples were checked when the tuple was made.
  for (const Instruction* operand : instruction.operands()) {
    for (const int64_t size : operand->shape().dims()) {
      if (size >= 0) continue;
      return Violates("A7", absl::StrCat("operand ", operand->name()), operand->shape().ToString(),
                      "sizes that are known");
    }
  }
  ASSIGN_OR_RETURN(Shape shape, kInfer[static_cast<int>(opcode)](instruction));
  RETURN_IF_ERROR(CheckExtent(shape));
  return shape;
}

}  // namespace toroid
