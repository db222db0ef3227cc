#include "partitioner/ops/local_program.h"

#include "hlo/base/status.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

enum class LocalResult { kComplete, kPartial };

// A row of local_programs.inc.
struct Row {
  absl::StatusOr<std::vector<Instruction*>> (*program)(OpContext& context);
  FactorKind cuts;
  LocalResult result;
};

// Null for ops that run as they are on local shapes.
const Row* RowOf(Opcode opcode) {
  switch (opcode) {
#define LOCAL_PROGRAM(op, cuts, result)                                                    \
  case Opcode::k##op: {                                                                    \
    static constexpr Row kRow = {Partition##op, FactorKind::cuts, LocalResult::result}; \
    return &kRow;                                                                          \
  }
#include "partitioner/ops/local_programs.inc"
#undef LOCAL_PROGRAM
    default:
      return nullptr;
  }
}

}  // namespace

Shape OpContext::ResultShape(int i) const {
  const Shape& global = op->shape().IsTuple() ? op->shape().tuple_shape(i) : op->shape();
  return b->ShardShape(global, results[i]);
}

std::vector<Instruction*> OpContext::CloneLocal(const xla::HloInstructionProto* attrs) const {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < results.size(); ++i) shapes.push_back(ResultShape(static_cast<int>(i)));
  const bool tuple = op->shape().IsTuple();
  Instruction* clone = b->Clone(*op, tuple ? Shape::Tuple(shapes) : shapes[0], operands);
  if (attrs != nullptr) clone->set_attrs(attrs);
  if (!op->called().empty()) {
    std::vector<Computation*> called;
    for (const Computation* computation : op->called()) called.push_back(copy_computation(computation));
    clone->set_called(called);
  }
  return b->Flatten(clone);
}

absl::StatusOr<std::vector<Instruction*>> LocalProgram(OpContext& context) {
  // Nothing to compute: no halo, no index arithmetic on sizes of zero.
  if (context.op->shape().IsArray() && context.op->shape().NumElements() == 0) {
    const Shape local = context.ResultShape();
    return std::vector<Instruction*>{
        context.b->Broadcast(context.b->Zero(local.element_type()), local.dims())};
  }
  const Row* row = RowOf(context.op->opcode());
  return row == nullptr ? PartitionByRule(context) : row->program(context);
}

bool CanCutLocally(const Instruction& op, FactorKind kind) {
  switch (kind) {
    case FactorKind::kPassThrough:
    case FactorKind::kReduction:
      return true;
    case FactorKind::kPermuting:
    case FactorKind::kIndexed: {
      const Row* row = RowOf(op.opcode());
      return row != nullptr && row->cuts == kind;
    }
    case FactorKind::kWhole:
    case FactorKind::kBlocked:
      return false;
  }
  return false;
}

AxisSet PartialAxes(const Instruction& op, const ShardingRule& rule, absl::Span<const AxisList> factor_axes) {
  AxisSet partial = 0;
  const Row* row = RowOf(op.opcode());
  const bool indexed_is_partial = row != nullptr && row->result == LocalResult::kPartial;
  for (size_t f = 0; f < rule.factors.size(); ++f) {
    const FactorKind kind = rule.factors[f].kind;
    if (kind == FactorKind::kReduction || (kind == FactorKind::kIndexed && indexed_is_partial)) {
      partial |= factor_axes[f].Set();
    }
  }
  if (partial != 0 && op.opcode() == Opcode::kReduce && !StartsNeutral(op)) return 0;
  return partial;
}

}  // namespace toroid
