// `reduce`: (k r), () -> (k), r reduced; n operands, n init values, n results.
//
// HLO may apply a reducer in any order and use init values any number of times. The partitioned program uses
// an init value once, unless the reducer is idempotent, so that it computes the same as the unpartitioned
// program even if the init value is not neutral. Padding rows are never reduced.
//
// - Independent arrays, each with a known reducer (add, maximum, ...): the local reduce starts from the
//   neutral element, an all-reduce combines the parts, and the init value is combined last. If the init value
//   is known to be neutral, the local result stays partial instead.
// - Idempotent reducers of several arrays (argmax): every part starts from the init value, as a value may
//   enter any number of times.
// - Other reducers: each element has a flag that tells whether it counts, and the reducer skips elements that
//   do not. Parts start from an element that does not count.
//
// In the last two cases all parts are gathered along a new dimension and reduced locally.
#include "absl/strings/str_cat.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

// Axes of the cut reduced dimensions, in the order of the dimensions.
AxisList ReducedAxes(const OpContext& context) {
  AxisList axes;
  for (const int64_t d : context.op->dimensions()) axes.Append(context.AxesOf(0, static_cast<int>(d)));
  return axes;
}

// `x`, shaped and sharded like operand 0, with its padding in the reduced dimensions replaced by `fill`.
Instruction* MaskReduced(const OpContext& context, Instruction* x, Instruction* fill) {
  for (const int64_t d : context.op->dimensions()) {
    const int dim = static_cast<int>(d);
    x = context.b->MaskPadding(x, dim, context.GlobalDim(0, dim), context.AxesOf(0, dim), fill);
  }
  return x;
}

// Emits a reduce of n = operands.size() / 2 arrays; returns n results.
std::vector<Instruction*> EmitReduce(SpmdBuilder& b, absl::Span<Instruction* const> operands,
                                     absl::Span<const int64_t> dimensions, Computation* reducer) {
  const size_t n = operands.size() / 2;
  return b.Flatten(b.Reduce(operands.first(n), operands.last(n), dimensions, reducer));
}

// Gathers the pieces of all partitions of the group along a new dimension 0.
Instruction* GatherPieces(SpmdBuilder& b, Instruction* piece, const AxisList& axes) {
  Dims dims(piece->shape().dims().begin(), piece->shape().dims().end());
  dims.insert(dims.begin(), 1);
  return b.AllGather(b.Reshape(piece, dims), axes, 0);
}

// For idempotent reducers: every part starts from the init values.
std::vector<Instruction*> ReduceChoices(const OpContext& context, const AxisList& axes) {
  SpmdBuilder& b = *context.b;
  const int n = context.op->num_operands() / 2;
  Computation* reducer = b.CopyOf(context.op->called(0));
  std::vector<Instruction*> operands = context.operands;
  for (int i = 0; i < n; ++i) operands[i] = MaskReduced(context, operands[i], operands[n + i]);
  std::vector<Instruction*> parts = EmitReduce(b, operands, context.op->dimensions(), reducer);
  for (int i = 0; i < n; ++i) operands[i] = GatherPieces(b, parts[i], axes);
  return EmitReduce(b, operands, {0}, reducer);
}

// The reducer of n + 1 arrays, the last one flags: elements whose flag is false do not count.
//   g((a, true), (b, true)) = (f(a, b), true); g((a, true), (b, false)) = (a, true); g((a, false), y) = y
Computation* CountingReducer(const OpContext& context) {
  const Computation& reducer = *context.op->called(0);
  const int n = reducer.num_parameters() / 2;
  InstructionBuilder b = context.b->InNewComputation(absl::StrCat(reducer.name(), ".counting"));
  const Shape flag(xla::PRED, {});
  std::vector<Instruction*> parameters, arguments;
  for (int i = 0; i < 2 * n + 2; ++i) {
    const int of = i < n ? i : i - 1;  // Parameters n and 2 n + 1 are flags.
    const bool is_flag = i == n || i == 2 * n + 1;
    parameters.push_back(b.Parameter(is_flag ? flag : reducer.parameter(of)->shape(), ""));
    if (!is_flag) arguments.push_back(parameters.back());
  }
  const std::vector<Instruction*> copies = context.CopyInto(reducer, arguments, b.computation());
  Instruction* const left = parameters[n];
  Instruction* const right = parameters[2 * n + 1];
  const std::vector<Instruction*> both = b.Flatten(copies[reducer.root()->index()]);
  std::vector<Instruction*> outputs;
  for (int i = 0; i < n; ++i) {
    Instruction* from_left = b.Select(right, both[i], parameters[i]);
    outputs.push_back(b.Select(left, from_left, parameters[n + 1 + i]));
  }
  outputs.push_back(b.Or(left, right));
  return b.Finish(b.Tuple(outputs));
}

// For other reducers: parts start from elements that do not count; the init values enter when parts are
// combined.
std::vector<Instruction*> ReduceOpaque(const OpContext& context, const AxisList& axes) {
  SpmdBuilder& b = *context.b;
  const int n = context.op->num_operands() / 2;
  Computation* reducer = CountingReducer(context);
  Instruction* const yes = b.Constant(Literal::Scalar<bool>(true));
  Instruction* const no = b.Constant(Literal::Scalar<bool>(false));
  const std::vector<Instruction*> x(context.operands.begin(), context.operands.begin() + n);
  const std::vector<Instruction*> init(context.operands.begin() + n, context.operands.end());
  std::vector<Instruction*> operands = x;
  operands.push_back(MaskReduced(context, b.Broadcast(yes, x[0]->shape().dims()), no));
  operands.insert(operands.end(), init.begin(), init.end());
  operands.push_back(no);
  std::vector<Instruction*> parts = EmitReduce(b, operands, context.op->dimensions(), reducer);
  for (int i = 0; i <= n; ++i) operands[i] = GatherPieces(b, parts[i], axes);
  operands.back() = yes;
  std::vector<Instruction*> results = EmitReduce(b, operands, {0}, reducer);
  results.pop_back();
  return results;
}

ShardingRule ReduceShardingRule(const Instruction& op) {
  const int n = op.num_operands() / 2;
  ShardingRule rule = PointwiseRule(op.operand(0)->shape().dims(), n);
  for (const int64_t d : op.dimensions()) rule.factors[d].kind = FactorKind::kReduction;
  TensorFactors kept;
  for (const DimFactors& dim : rule.operands[0]) {
    if (rule.factors[dim.factor[0]].kind != FactorKind::kReduction) kept.push_back(dim);
  }
  rule.results.assign(n, kept);
  rule.operands.resize(2 * n);  // The init values, scalars.
  rule.leaves_partial = StartsNeutral(op);
  const std::optional<Reducer> reducer = n == 1 ? ClassifyReducer(*op.called(0)) : std::nullopt;
  if (reducer) {
    rule.reducer = *reducer;
    if (*reducer == Reducer::kAdd) rule.linear.push_back({0b1});
  }
  return rule;
}

std::vector<Instruction*> PartitionReduce(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const AxisList axes = ReducedAxes(context);
  if (axes.empty()) return context.CloneLocal();
  const int n = context.op->num_operands() / 2;
  const Computation& computation = *context.op->called(0);
  const std::optional<std::vector<Reducer>> reducers = ClassifyReducers(computation);
  if (!reducers)
    return IsIdempotent(computation) ? ReduceChoices(context, axes) : ReduceOpaque(context, axes);
  const std::vector<Instruction*> init(context.operands.begin() + n, context.operands.end());
  for (int i = 0; i < n; ++i) {
    Instruction* neutral = b.Constant(NeutralElement((*reducers)[i], init[i]->shape().element_type()));
    context.operands[i] = MaskReduced(context, context.operands[i], neutral);
    context.operands[n + i] = neutral;
  }
  std::vector<Instruction*> local = context.CloneLocal();
  if (context.results[0].partial != 0) return local;  // The init value is known to be neutral.
  for (int i = 0; i < n; ++i) {
    local[i] = b.AllReduce(local[i], axes, (*reducers)[i]);
    local[i] =
        b.Binary(ReducerOpcode((*reducers)[i]), b.Broadcast(init[i], local[i]->shape().dims()), local[i]);
  }
  return local;
}

}  // namespace

const OpFamily families::kReduce = {ReduceShardingRule, PartitionReduce};

}  // namespace toroid
