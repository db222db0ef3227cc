#include "partitioner/plan/plan.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

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
    for (int i = 0; i < axes.size(); ++i) {
      if ((*used >> axes[i] & 1) != 0) return false;
      *used |= AxisSet{1} << axes[i];
    }
    return true;
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
    const auto& factor_axes = decision.assignment.factor_axes;
    const int t = op.results.empty() ? op.operands[0] : op.results[0];
    const std::string name = op.instruction->Path();
    if (factor_axes.size() != rule.factors.size()) {
      return Error(t, absl::StrCat(name, " has ", rule.factors.size(), " factors, the plan cuts ",
                                   factor_axes.size()));
    }
    AxisSet used = decision.passed_on.axes() | annotations_.ManualAxesOf(op);
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
