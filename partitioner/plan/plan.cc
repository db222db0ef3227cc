#include "partitioner/plan/plan.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/literal.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// True if the operand is a constant zero, perhaps broadcast or reshaped: it is its own partial sum.
bool IsZero(const Instruction* instruction) {
  while (instruction->opcode() == Opcode::kBroadcast || instruction->opcode() == Opcode::kReshape) {
    instruction = instruction->operand(0);
  }
  if (instruction->opcode() != Opcode::kConstant || !instruction->shape().IsScalar()) return false;
  const absl::StatusOr<Literal> value = LiteralOf(*instruction);
  return value.ok() && *value == Literal(instruction->shape());
}

// True if all operands that are not partial, but would have to be, are zeros of a sum.
bool RestIsZero(const Instruction& instruction, const FlowOp& op, const Linearity& linearity,
                const PartialOperands& partial) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!(linearity.together >> i & 1) || partial.Has(i)) continue;
    if (partial.reducer != Reducer::kAdd || !IsZero(instruction.operand(i))) return false;
  }
  return true;
}

class Checker {
 public:
  Checker(const PreparedProgram& program, const Plan& plan)
      : plan_(plan),
        graph_(*program.graph),
        annotations_(program.annotations),
        names_(TensorNames(program)) {}

  absl::Status Run() {
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      RETURN_IF_ERROR(CheckSharding(t, plan_.shardings[t]));
      RETURN_IF_ERROR(CheckAnnotation(t));
    }
    for (const auto& [t, sharding] : plan_.early) RETURN_IF_ERROR(CheckSharding(t, sharding));
    for (size_t i = 0; i < plan_.ops.size(); ++i) {
      if (plan_.ops[i]) RETURN_IF_ERROR(CheckOp(graph_.ops()[i], *plan_.ops[i]));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Error(int tensor, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("the plan does not fit: ", names_[tensor], ": ", what));
  }

  // Adds `axes` to `*used`; false if one is there already.
  static bool Use(const AxisList& axes, AxisSet* used) {
    const bool is_free = (*used & axes.Set()) == 0;
    *used |= axes.Set();
    return is_free;
  }

  absl::Status CheckSharding(int t, const Sharding& sharding) const {
    const Shape& shape = graph_.shape(t);
    if (static_cast<int>(sharding.dims.size()) != shape.rank()) {
      return Error(t, absl::StrCat("has ", shape.rank(), " dimensions, its sharding ", sharding.dims.size()));
    }
    AxisSet used = annotations_.manual[t];
    for (const AxisList& dim : sharding.dims) {
      if (!Use(dim, &used))
        return Error(t, "an axis cuts it twice, or belongs to the manual region it is in");
    }
    if (sharding.DimAxes() != 0 && !IsCuttable(shape))
      return Error(t, "cannot be cut: its size is not fixed");
    const auto& annotation = annotations_.tensor[t];
    const AxisSet stated = annotation ? annotation->sharding.partial : 0;
    if (sharding.partial != stated) {
      return Error(t, "only parameters that the module annotates as partial sums are partial in a plan");
    }
    return absl::OkStatus();
  }
  static bool IsCuttable(const Shape& shape) { return shape.IsArray() && !shape.IsDynamic(); }

  // Callers rely on the shardings that the module states.
  absl::Status CheckAnnotation(int t) const {
    const auto& annotation = annotations_.tensor[t];
    if (!annotation) return absl::OkStatus();
    const Sharding& planned = plan_.shardings[t];
    for (size_t d = 0; d < planned.dims.size(); ++d) {
      const AxisList& stated = annotation->sharding.dims[d];
      const bool closed = (annotation->closed >> d & 1) != 0;
      if (closed ? planned.dims[d] == stated : stated.IsPrefixOf(planned.dims[d])) continue;
      return Error(t,
                   absl::StrCat("the module states how dimension ", d, " is cut; change the module instead"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckOp(const FlowOp& op, const OpDecision& decision) const {
    const ShardingRule& rule = *op.rule;
    const auto& factor_axes = decision.factor_axes;
    const int t = op.results.empty() ? op.operands[0] : op.results[0];
    const std::string name = op.instruction->Path();
    if (factor_axes.size() != rule.factors.size()) {
      return Error(t, absl::StrCat(name, " has ", rule.factors.size(), " factors, the plan cuts ",
                                   factor_axes.size()));
    }
    AxisSet used = decision.passed_on.axes | annotations_.ManualAxesOf(op);
    for (size_t f = 0; f < rule.factors.size(); ++f) {
      const AxisList& axes = factor_axes[f];
      if (axes.empty()) continue;
      if (!Use(axes, &used)) {
        return Error(
            t, absl::StrCat("an axis cuts two factors of ", name, ", or one that it passes on partial"));
      }
      if (!MayCut(annotations_.mesh, op, static_cast<int>(f), axes)) {
        return Error(t, absl::StrCat(name, " cannot be cut in factor ", f, ", of ", rule.factors[f].size,
                                     ", as the plan says"));
      }
    }
    if (!IsExpressible(annotations_.mesh, rule, factor_axes)) {
      return Error(t, absl::StrCat("the cuts of ", name, " together have no local program"));
    }
    if (!decision.passed_on.none() && !MayPassOn(*op.instruction, op, decision.passed_on)) {
      return Error(t, absl::StrCat(name, " cannot take these operands as partial sums"));
    }
    return absl::OkStatus();
  }

  const Plan& plan_;
  const FlowGraph& graph_;
  const Annotations& annotations_;
  const std::vector<std::string> names_;
};

}  // namespace

Sharding OperandSharding(const PreparedProgram& program, const FlowOp& op, size_t operand,
                         const OpDecision& decision) {
  Sharding needed =
      ShardingUnder(program.annotations.mesh, *op.rule, op.rule->operands[operand], decision.factor_axes);
  needed.manual = program.annotations.manual[op.operands[operand]];
  if (decision.passed_on.Has(operand)) {
    needed.partial = decision.passed_on.axes;
    needed.reducer = decision.passed_on.reducer;
  }
  return needed;
}

Sharding ResultSharding(const PreparedProgram& program, const FlowOp& op, size_t result,
                        const OpDecision& decision) {
  const ShardingRule& rule = *op.rule;
  const AxisSet own = PartialAxes(rule, decision.factor_axes);
  const AxisSet passed = decision.passed_on.axes;
  const Reducer passed_reducer = decision.passed_on.reducer;
  TOROID_CHECK(own == 0 || passed == 0 || passed_reducer == rule.reducer, op.instruction->name());
  Sharding natural =
      ShardingUnder(program.annotations.mesh, rule, rule.results[result], decision.factor_axes);
  natural.manual = program.annotations.manual[op.results[result]];
  natural.partial = own | passed;
  if (natural.partial != 0) natural.reducer = own != 0 ? rule.reducer : passed_reducer;
  return natural;
}

bool MayPassOn(const Instruction& instruction, const FlowOp& op, const PartialOperands& partial) {
  if (partial.none() || op.results.size() != 1) return false;
  for (const Linearity& linearity : op.rule->linear) {
    if ((partial.operands & ~linearity.together) != 0) continue;
    if (partial.reducer != Reducer::kAdd && !linearity.any_reducer) continue;
    if (!RestIsZero(instruction, op, linearity, partial)) continue;
    if (instruction.opcode() == Opcode::kReduce && !IsZero(instruction.operand(1))) continue;
    return true;
  }
  return false;
}

bool MayCut(const Mesh& mesh, const FlowOp& op, int factor, const AxisList& axes) {
  const ShardingRule& rule = *op.rule;
  return axes.empty() || (CanCutLocally(*op.instruction, rule.factors[factor].kind) &&
                          (rule.Admissible(mesh, factor, axes) == axes ||
                           (rule.factors[factor].by_halo && UnevenAxes(mesh, rule, factor, axes) == axes)));
}

int64_t LocalBytes(const PreparedProgram& program, int tensor, const Sharding& sharding) {
  const Shape& shape = program.graph->shape(tensor);
  return LocalBytes(program.annotations.mesh, shape.dims(), ByteWidth(shape.element_type()), sharding);
}

std::vector<std::string> TensorNames(const PreparedProgram& program) {
  const FlowGraph& graph = *program.graph;
  std::vector<std::string> names(graph.num_tensors());
  absl::flat_hash_map<std::string, int> times;  // How often a name was given.
  for (const Instruction* instruction : graph.ReachedInstructions(*program.flat)) {
    const auto leaves = graph.Leaves(*instruction);
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!names[leaves[i]].empty()) continue;
      std::string name = instruction->Path();
      if (instruction->shape().IsTuple()) absl::StrAppend(&name, "{", i, "}");
      const int before = times[name]++;
      if (before > 0) absl::StrAppend(&name, "#", before + 1);
      names[leaves[i]] = std::move(name);
    }
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    names[graph.outputs()[i]] = absl::StrCat("output{", i, "}");
  return names;
}

absl::Status CheckPlan(const PreparedProgram& program, const Plan& plan) {
  return Checker(program, plan).Run();
}

}  // namespace toroid
