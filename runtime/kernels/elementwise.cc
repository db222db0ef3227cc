#include "runtime/kernels/elementwise.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/groups/run_group.h"
#include "runtime/kernels/reduce_precision.h"
#include "runtime/mesh/mesh_rows.h"

namespace toroid {
namespace {

struct LoneOp : KernelCache {
  explicit LoneOp(const OpCall& call) : group(GroupOf(call.instruction())) {}
  std::unique_ptr<Group> group;
};

absl::Status NotDefined(const OpCall& call) {
  const absl::string_view type = TypeName(call.operand_shape(0).element_type());
  if (call.opcode() == Opcode::kCompare) {
    return absl::InvalidArgumentError(
        absl::StrCat("direction \"", call.attrs().comparison_direction(), "\" is not defined on ", type));
  }
  return absl::UnimplementedError(
      absl::StrCat(call.instruction().opcode_name(), " is not defined on ", type));
}

// A uniform scalar predicate: the result is the chosen operand.
absl::Status SelectWhole(OpCall& call, bool pred) {
  call.result() = call.TakeOperand(pred ? 1 : 2);
  return absl::OkStatus();
}

// A tuple, chosen by a predicate that differs between devices.
absl::Status SelectTuple(OpCall& call, const bool* pred) {
  MeshBuffer result = call.operand(2);
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < call.copies(); ++row) {
    if (pred[row]) rows.push_back(row);
  }
  MeshBuffer chosen;
  RETURN_IF_ERROR(GatherRows(call.operand(1), call.copies(), rows, &chosen));
  RETURN_IF_ERROR(MergeRows(chosen, rows, call.copies(), &result, KeepUniform(call.mesh())));
  call.result() = std::move(result);
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteElementwise(OpCall& call) {
  Group& group = *call.Cache<LoneOp>().group;
  if (group.nodes.back().op.kind == ElementOp::Kind::kNone) return NotDefined(call);
  return RunGroup(group, call);
}

absl::Status ExecuteUnary(OpCall& call) {
  return call.opcode() == Opcode::kReducePrecision ? ReducePrecisionOf(call) : ExecuteElementwise(call);
}

absl::Status ExecuteSelect(OpCall& call) {
  const bool* pred = reinterpret_cast<const bool*>(call.data(0));
  if (call.operand_shape(0).rank() == 0 && call.uniform(0)) return SelectWhole(call, *pred);
  if (!call.shape().IsArray()) return SelectTuple(call, pred);
  return ExecuteElementwise(call);
}

}  // namespace toroid
