// Custom calls. Calls of a known target have the rule of the op that they compute, calls that state a Shardy
// rule have that rule (stated_rule.h), and calls with the attribute num_batch_dims="n" are cut along their n
// leading dimensions only. All others run on replicated arrays. LAPACK's triangular solves are also cut along
// their right-hand sides, which are independent.
//
// Example: y = f32[8,4,4]{1,2,0} custom-call(x), operand_layout_constraints={f32[8,4,4]{1,2,0}}, num_batch_dims="1"
// over 2 devices, cut along dimension 0:
//   a = f32[4,4,4]{1,2,0} copy(x)
//   b = f32[4,4,4]{1,2,0} custom-call(a), operand_layout_constraints={f32[4,4,4]{1,2,0}}
//   y = f32[4,4,4]{2,1,0} copy(b)
#include <optional>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "hlo/analysis/custom_call_targets.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/ops/stated_rule.h"

namespace toroid {
namespace {

// The elements of the result, or the result itself if it is no tuple.
absl::Span<const Shape> ResultsOf(const Instruction& call) {
  return call.shape().IsTuple() ? call.shape().tuple_shapes() : absl::MakeConstSpan(&call.shape(), 1);
}

// The number of leading batch dimensions that the call's num_batch_dims attribute states, if all its arrays
// have these dimensions.
std::optional<int> BatchDims(const Instruction& op) {
  const std::string* text = op.FrontendAttribute("num_batch_dims");
  int batch = 0;
  if (text == nullptr || !absl::SimpleAtoi(*text, &batch) || batch <= 0 || op.num_operands() == 0) {
    return std::nullopt;
  }
  const Shape& model = op.operand(0)->shape();
  if (!model.IsArray() || model.rank() < batch) return std::nullopt;
  const auto has_batch = [&](const Shape& shape) {
    return shape.IsArray() && shape.rank() >= batch && shape.dims().first(batch) == model.dims().first(batch);
  };
  const bool all_have_batch =
      absl::c_all_of(op.operands(), [&](const Instruction* x) { return has_batch(x->shape()); }) &&
      absl::c_all_of(ResultsOf(op), has_batch);
  return all_have_batch ? std::optional<int>(batch) : std::nullopt;
}

// (b i j), (b k) -> (b l): b passes through, no other dimension is ever cut.
ShardingRule BatchedCallRule(const Instruction& op, int batch) {
  ShardingRule rule;
  for (int d = 0; d < batch; ++d) rule.AddFactor(op.operand(0)->shape().dim(d));
  const auto factors = [batch](const Shape& shape) {
    TensorFactors tensor(shape.rank());
    for (int d = 0; d < batch; ++d) tensor[d] = DimFactors(d);
    return tensor;
  };
  for (const Instruction* operand : op.operands()) rule.operands.push_back(factors(operand->shape()));
  for (const Shape& result : ResultsOf(op)) rule.results.push_back(factors(result));
  return rule;
}

bool IsTopK(const Instruction& call) {
  const absl::string_view target = call.custom_call_target();
  return (target == "TopK" || target == "mhlo.topk") && call.num_operands() == 1 &&
         call.operand(0)->shape().IsArray() && call.operand(0)->shape().rank() > 0;
}

// True for a triangular solve by LAPACK, of two matrices or of two batches of matrices.
bool IsTriangularSolve(const Instruction& call) {
  const absl::string_view target = call.custom_call_target();
  if (!absl::StartsWith(target, "lapack_") || !absl::StrContains(target, "trsm") || call.num_operands() != 2)
    return false;
  const Shape &a = call.operand(0)->shape(), &b = call.operand(1)->shape();
  return a.IsArray() && b.IsArray() && call.shape().IsArray() && call.shape().SameDims(b) &&
         a.rank() == b.rank() && a.rank() >= 2 && a.dim(a.rank() - 1) == a.dim(a.rank() - 2);
}

// The dimension that counts the independent right-hand sides of a LAPACK solve; -1 if shapes and config do
// not tell.
int FreeDimension(const Instruction& solve) {
  const Shape &a = solve.operand(0)->shape(), &b = solve.operand(1)->shape();
  const int rank = b.rank();
  const int64_t n = a.dim(rank - 1);
  const bool fits_left = b.dim(rank - 2) == n, fits_right = b.dim(rank - 1) == n;
  if (fits_left != fits_right) return fits_left ? rank - 1 : rank - 2;
  // LAPACK's side argument as an ASCII code: 'L' (76) or 'R' (82). The config spells it "side = 76 : ui8".
  absl::string_view config = solve.backend_config();
  const size_t at = config.find("side");
  if (!fits_left || at == absl::string_view::npos) return -1;
  config = config.substr(at, config.find(',', at) - at);
  if (absl::StrContains(config, "76")) return rank - 1;
  return absl::StrContains(config, "82") ? rank - 2 : -1;
}

ShardingRule CustomCallShardingRule(const Instruction& op) {
  if (IsElementwiseCall(op)) return PointwiseRule(op.shape().dims(), op.num_operands());
  const bool one_array = op.num_operands() == 1 && op.shape().IsArray();
  if (one_array && op.shape().SameDims(op.operand(0)->shape()) && IsIdentityTarget(op)) {
    return MovedRule(op.shape().dims());
  }
  const std::optional<int> batch = BatchDims(op);
  // Before the stated rule: that of JAX keeps the right-hand sides whole.
  if (IsTriangularSolve(op)) {
    ShardingRule rule = BatchedCallRule(op, batch.value_or(0));
    const int free = FreeDimension(op);
    if (free >= batch.value_or(0)) {
      const int rank = op.shape().rank(), whole = free == rank - 1 ? rank - 2 : rank - 1;
      rule.operands[1][free] = rule.results[0][free] = DimFactors(rule.AddFactor(op.shape().dim(free)));
      const int unknowns = rule.AddFactor(op.shape().dim(whole), FactorKind::kBlocked);
      rule.operands[1][whole] = rule.results[0][whole] = DimFactors(unknowns);
    }
    return rule;
  }
  if (std::optional<ShardingRule> stated = StatedShardingRule(op)) return *std::move(stated);
  if (batch.has_value()) return BatchedCallRule(op, *batch);
  if (IsTopK(op)) return families::kTopK.rule(op);
  return OpaqueRule(op);
}

std::vector<Instruction*> PartitionCustomCall(OpContext& context) {
  if (IsTopK(*context.op) && !BatchDims(*context.op).has_value() && !StatedShardingRule(*context.op)) {
    return families::kTopK.program(context);
  }
  return EmitCustomCall(*context.b, *context.op, context.operands, context.LocalShape());
}

// Removes a stated Shardy rule, whose sizes are those of the global arrays.
void DropStatedRule(Instruction* call) {
  if (call->FrontendAttribute(kStatedRule) == nullptr) return;
  xla::FrontendAttributes* attributes = call->module()->New(*call->frontend_attributes());
  attributes->mutable_map()->erase(kStatedRule);
  call->set_frontend_attributes(attributes->map().empty() ? nullptr : attributes);
}

}  // namespace

std::vector<Instruction*> EmitCustomCall(SpmdBuilder& b, const Instruction& call,
                                         absl::Span<Instruction* const> operands, const Shape& local_result) {
  const bool constrained = call.attrs().constrain_layout();
  const auto& constraints = call.attrs().operand_shapes_with_layout();
  std::vector<Instruction*> inside(operands.begin(), operands.end());
  for (size_t i = 0; constrained && i < inside.size() && i < static_cast<size_t>(constraints.size()); ++i) {
    const absl::StatusOr<Shape> wanted = Shape::FromProto(constraints.Get(static_cast<int>(i)));
    if (!wanted.ok()) continue;  // An unknown element type: keeps the operand's layout.
    inside[i] = b.ToLayout(inside[i], *wanted);
  }
  Instruction* clone = b.Clone(call, WithLayoutOf(local_result, call.shape()), inside);
  DropStatedRule(clone);
  if (constrained) {
    xla::HloInstructionProto* attrs = clone->MutableAttrs();
    for (int i = 0; i < attrs->operand_shapes_with_layout_size() && i < clone->num_operands(); ++i) {
      *attrs->mutable_operand_shapes_with_layout(i) = clone->operand(i)->shape().ToProto();
    }
  }
  b.CopyCalled(clone);
  std::vector<Instruction*> leaves = b.Flatten(clone);
  for (Instruction*& leaf : leaves) leaf = b.ToRowMajor(leaf);
  return leaves;
}

const OpFamily families::kCustomCall = {CustomCallShardingRule, PartitionCustomCall};

}  // namespace toroid
