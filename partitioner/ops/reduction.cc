// Local programs of reductions.
//
// A local reduce starts from the reducer's neutral element; the init value enters once, after the partial results
// are combined. A reduction by any other computation (argmax and the like) gathers the partial results of all
// partitions along a new dimension and reduces them locally, which needs no neutral element beyond the init value
// and, on uneven sizes, masks with it.
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "partitioner/ops/local_program.h"
#include "partitioner/reducer.h"

namespace toroid {
namespace {

// Axes of the cut reduced dimensions, in the order of the dimensions.
AxisList ReducedAxes(const OpContext& context) {
  AxisList axes;
  for (const int64_t d : context.op->dimensions()) axes.Append(context.AxesOf(0, static_cast<int>(d)));
  return axes;
}

void MaskReduced(OpContext& context, int operand, Instruction* fill) {
  for (const int64_t d : context.op->dimensions()) {
    const int dim = static_cast<int>(d);
    context.operands[operand] = context.b->MaskPadding(context.operands[operand], dim, context.GlobalDim(operand, dim),
                                                       context.AxesOf(operand, dim), fill);
  }
}

absl::StatusOr<std::vector<Instruction*>> GatherAndReduce(OpContext& context, const AxisList& axes) {
  SpmdBuilder& b = *context.b;
  const int n = context.op->num_operands() / 2;
  for (int i = 0; i < n; ++i) MaskReduced(context, i, context.operands[n + i]);
  const std::vector<Instruction*> local = context.CloneLocal();
  std::vector<Instruction*> operands;
  for (Instruction* piece : local) {
    Dims dims(piece->shape().dims().begin(), piece->shape().dims().end());
    dims.insert(dims.begin(), 1);
    operands.push_back(b.AllGather(b.Reshape(piece, dims), axes, 0));
  }
  for (int i = 0; i < n; ++i) operands.push_back(context.operands[n + i]);
  context.operands = operands;
  xla::HloInstructionProto* attrs = b.module()->New<xla::HloInstructionProto>();
  attrs->add_dimensions(0);
  return context.CloneLocal(attrs);
}

}  // namespace

absl::StatusOr<std::vector<Instruction*>> PartitionReduce(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const AxisList axes = ReducedAxes(context);
  if (axes.empty()) return context.CloneLocal();
  const int n = context.op->num_operands() / 2;
  const std::optional<Reducer> reducer = n == 1 ? ClassifyReducer(*context.op->called(0)) : std::nullopt;
  if (!reducer) return GatherAndReduce(context, axes);
  const PrimitiveType type = context.op->shape().element_type();
  Instruction* neutral = b.Constant(NeutralElement(*reducer, type));
  MaskReduced(context, 0, neutral);
  Instruction* init = context.operands[1];
  context.operands[1] = neutral;
  std::vector<Instruction*> local = context.CloneLocal();
  if (context.results[0].partial != 0) return local;  // The init value is known to be neutral.
  local[0] = b.AllReduce(local[0], axes, *reducer);
  local[0] = b.Binary(ReducerOpcode(*reducer), b.Broadcast(init, local[0]->shape().dims()), local[0]);
  return local;
}

}  // namespace toroid
